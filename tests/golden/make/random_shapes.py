#!/usr/bin/env python3
"""Trajectories of random shapes: random_shapes.py TRNSIM COUNT [SEED]. `./dev golden --random COUNT [SEED]` calls it.

Each draws a family, sizes that are not multiples of anything, an optimizer, a number format and a plan; PyTorch trains
it, `trnsim verify` repeats it. A folder that disagrees is kept, and its command printed. Exits with 1 if any does."""
import math
import pathlib
import random
import re
import shutil
import subprocess
import sys
import tempfile

import decoder
import encoder
import t5

DECODERS = [family for family in decoder.FAMILIES if family not in ("phi3_long", "mixtral_capacity")]
ENCODERS = [*encoder.FAMILIES, "bert_tokens", "electra_tokens"]
CORES = 8


def a_decoder(family, draw):
    seq = draw.choice([draw.randint(4, 150), 8 * draw.randint(1, 18)])  # ranks share a sequence that they divide
    heads = draw.randint(1, 8)
    shared = draw.choice([n for n in range(1, heads + 1) if heads % n == 0])
    if family == "olmo2":
        shared = heads
    vocab = draw.randint(20, 700)
    changes = {"vocab_size": vocab, "hidden_size": draw.randint(4, 160), "num_hidden_layers": draw.randint(1, 3),
               "num_attention_heads": heads, "num_key_value_heads": shared, "head_dim": 2 * draw.randint(1, 40),
               "intermediate_size": draw.randint(3, 300), "max_position_embeddings": seq + draw.randint(0, 9),
               "rms_norm_eps": draw.choice([1e-5, 1e-6]), "rope_theta": draw.choice([1e3, 1e4, 5e5]),
               "tie_word_embeddings": draw.random() < 0.5}
    if family in ("mistral", "phi3"):
        changes["sliding_window"] = draw.randint(2, seq + 3)
    if family in ("mixtral", "qwen3_moe"):
        count = draw.randint(2, 8)
        changes["num_local_experts" if family == "mixtral" else "num_experts"] = count
        changes["num_experts_per_tok"] = draw.randint(1, min(count, 3))
        changes["moe_intermediate_size"] = changes["intermediate_size"]
        # Two experts that are all but equally likely are chosen otherwise after one rounding.
        changes["hidden_size"] = draw.randint(4, 32)
    if family == "phi3":  # its files have no size of a head
        changes["hidden_size"] = heads * changes["head_dim"]
    return changes, {"BATCH": draw.randint(1, 4), "SEQ": seq, "VOCAB": vocab}, shared


def an_encoder(family, draw):
    base = family.removesuffix("_tokens")
    seq, heads, vocab, labels = draw.randint(8, 150), draw.randint(1, 8), draw.randint(20, 700), draw.randint(2, 9)
    hidden, layers, ffn = heads * draw.randint(1, 40), draw.randint(1, 3), draw.randint(3, 300)
    places = seq + draw.randint(2, 9)
    names = {str(i): f"LABEL_{i}" for i in range(labels)}
    changes = {"vocab_size": vocab, "max_position_embeddings": places, "id2label": names,
               "label2id": {name: int(i) for i, name in names.items()}}
    if base == "distilbert":
        changes |= {"dim": hidden, "n_layers": layers, "n_heads": heads, "hidden_dim": ffn}
    else:
        changes |= {"hidden_size": hidden, "num_hidden_layers": layers, "num_attention_heads": heads,
                    "intermediate_size": ffn}
    if base in ("electra", "albert"):
        changes["embedding_size"] = draw.choice([hidden, draw.randint(2, 60)])
    sizes = {"BATCH": draw.randint(1, 5), "SEQ": seq, "VOCAB": vocab, "H": hidden, "LAYERS": layers, "HEADS": heads,
             "FFN": ffn, "LABELS": labels}
    return changes, sizes, heads


def a_t5(_, draw):
    read, vocab, heads = draw.randint(6, 120), draw.randint(20, 700), draw.randint(1, 8)
    changes = {"vocab_size": vocab, "d_model": draw.randint(4, 160), "d_kv": draw.randint(1, 40),
               "d_ff": draw.randint(3, 300), "num_layers": draw.randint(1, 3), "num_decoder_layers": draw.randint(1, 3),
               "num_heads": heads, "n_positions": read, "relative_attention_num_buckets": 4 * draw.randint(2, 8),
               "relative_attention_max_distance": draw.randint(40, 128)}
    sizes = {"BATCH": draw.randint(1, 4), "READ": read, "WRITTEN": math.ceil(read / 2) + draw.randint(1, 4),
             "VOCAB": vocab}
    return changes, sizes, heads


def a_plan(kind, shared, changes, sizes, draw):
    """Flags, some of which the model may refuse."""
    flags = {}
    lengths = [sizes[name] for name in ("SEQ", "READ", "WRITTEN") if name in sizes]
    tensor = draw.choice([n for n in (1, 2, 4, 8) if all(size % n == 0 for size in (shared, *lengths))])
    if kind != "encoder" and tensor > 1:
        flags["--tensor_parallel_size"] = tensor
    # The router's loss is of the tokens that a rank sees at once: of parts of a batch it is another.
    rows = 1 if "num_local_experts" in changes else sizes["BATCH"]
    data = draw.choice([n for n in (1, 2, 4) if rows % n == 0 and n * tensor <= CORES])
    left = rows // data
    again = draw.choice([n for n in range(1, left + 1) if left % n == 0])
    if again > 1:
        flags["--gradient_accumulation_steps"] = again
    if kind == "decoder" and draw.random() < 0.3:
        flags["--recompute"] = draw.choice(["selective", "full"])
    if data > 1 and kind != "encoder" and draw.random() < 0.5:
        flags["--zero_1"] = "true"
    cores = data * (tensor if kind != "encoder" else 1)
    if cores > 1:
        flags["--nproc_per_node"] = cores
        flags["--instance_type"] = "trn1.32xlarge"
    if draw.random() < 0.25:
        flags["--numerics"] = draw.choice(["bf16", "bf16+sr", "fp32+bf16-matmul"])
    return flags


def verified(trnsim, folder, flags):
    command = [trnsim, "verify", str(folder), *(str(word) for pair in flags.items() for word in pair)]
    return command, subprocess.run(command, capture_output=True, text=True, check=False)


def worst(text):
    """"logits 1.6e-07, loss 2e-08, ..." of the table of checks."""
    out = []
    for line in text.splitlines():
        found = re.match(r"(logits|loss|gradients|final weights).*?  +.*?  +(\d\.\d\de[+-]\d+)", line)
        if found:
            out.append(f"{found[1]} {found[2]}")
    return ", ".join(out)


def main():
    trnsim, count, seed = sys.argv[1], int(sys.argv[2]), int((sys.argv[3:] or ["1"])[0])
    kinds = {"decoder": (decoder, DECODERS, a_decoder), "encoder": (encoder, ENCODERS, an_encoder),
             "t5": (t5, list(t5.FAMILIES), a_t5)}
    agreed = refused = 0
    kept = []
    root = pathlib.Path(tempfile.mkdtemp(prefix="trnsim_random_"))
    for n in range(count):
        draw = random.Random(f"{seed} {n}")
        kind = draw.choices(list(kinds), [6, 3, 1])[0]
        module, families, shape = kinds[kind]
        family = draw.choice(families)
        changes, sizes, shared = shape(family, draw)
        flags = a_plan(kind, shared, changes, sizes, draw)
        folder = root / f"{n}_{family}"
        # With scores that grow with the sizes, a softmax is 0 or 1, and one rounding changes all that follows.
        width = changes.get("hidden_size", changes.get("d_model", changes.get("dim")))
        module.make(family, folder, seed * 1000 + n, changes, sizes, min(0.1, 0.6 / math.sqrt(width)))
        command, ran = verified(trnsim, folder, flags)
        if ran.returncode == 2 and ran.stderr.startswith("usage error"):  # the model does not allow the plan: one core then
            refused += 1
            why = ran.stderr.splitlines()[0]
            print(f"{n} {family}: {' '.join(map(str, sum(flags.items(), ())))}: {why}; on one core")
            command, ran = verified(trnsim, folder, {k: v for k, v in flags.items() if k == "--numerics"})
        shown = {**{k: v for k, v in changes.items() if isinstance(v, (int, float))}, **sizes}
        text = f"{n} {family} {' '.join(map(str, sum(flags.items(), ())))}: {worst(ran.stdout)}"
        if ran.returncode == 0:
            agreed += 1
            print(f"{text}: agrees", flush=True)
            shutil.rmtree(folder)
            continue
        kept.append(folder)
        print(f"{text}: DISAGREES ({shown})\n  {' '.join(command)}\n  {ran.stderr}", flush=True)
    print(f"{count} trajectories of random shapes, seed {seed}: {agreed} agree, {refused} plans refused")
    if kept:
        print("kept: " + ", ".join(map(str, kept)))
        sys.exit(1)
    root.rmdir()


if __name__ == "__main__":
    main()
