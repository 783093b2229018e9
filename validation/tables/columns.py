#!/usr/bin/env python3
"""Adds to a table of published measurements the columns that a prediction reads, guessed from the words of the others.

    ./dev columns OLD.csv >NEW.csv

What each column means, and what an empty cell stands for, is said in README.md. A column that the table has already is
left as it is. These are guesses: read the new columns row by row before you believe a prediction.
"""

import csv
import re
import sys

# ---- the host's software

RELEASED = {"torch-xla", "hf-trainer"}  # stacks whose recent releases have files of their own
STACK_WORDS = [  # in the column `stack`; the first one decides (validation/predict/stack_of_row.cpp)
    ("transformers-neuronx", "transformers-neuronx"), ("megatron", "megatron"), ("nemo", "megatron"),
    ("neuronx-distributed", "neuronx-distributed"), ("nxd", "neuronx-distributed"), ("hf trainer", "hf-trainer"),
    ("hf-trainer", "hf-trainer"), ("optimum", "hf-trainer"), ("bare", "bare"), ("torch-xla", "torch-xla"),
    ("torch-neuronx", "torch-xla"), ("xla", "torch-xla")]


def search(pattern, text):
    found = re.search(pattern, text)
    return found.group(1) if found else ""


def stack_of(row):
    name = row.get("stack", "").lower()
    return next((stack for word, stack in STACK_WORDS if word in name), "")


def is_recent(text):
    """An SDK from 2.26 on, optimum-neuron from 0.2 on, a year from 2025 on; or a repository as source, whose loops are
    younger than the published tables."""
    if minor := search(r"sdk 2\.(\d{1,3})", text):
        return int(minor) >= 26
    if minor := search(r"optimum-neuron v?0\.(\d{1,3})", text):
        return int(minor) >= 2
    if year := search(r"\b(20[23]\d)\b", text):
        return int(year) >= 2025
    return "github" in text


def release_of(row):
    text = (row["source"] + " " + row["notes"]).lower()
    if row["kind"] != "train" or stack_of(row) not in RELEASED or not is_recent(text):
        return ""
    return "optimum-neuron" if "optimum" in text else "torch-xla-2025"


# ---- the model

# Words of a model's name, and the family that they tell: `model_type` of config.json. The longest one decides.
FAMILY_WORDS = {
    "bert": "bert", "roberta": "roberta", "distilbert": "distilbert", "electra": "electra", "albert": "albert",
    "llama": "llama", "vicuna": "llama", "mistral": "mistral", "qwen": "qwen2", "qwen3": "qwen3", "gemma": "gemma",
    "granite": "granite", "phi-3": "phi3", "phi3": "phi3", "phi-4": "phi3", "mixtral": "mixtral", "olmo2": "olmo2",
    "olmo-2": "olmo2", "qwen3-30b-a3b": "qwen3_moe", "qwen3-235b-a22b": "qwen3_moe", "qwen3-moe": "qwen3_moe",
    "gpt": "gpt2", "neox": "gpt2", "pythia": "gpt2", "gpt-j": "gpt2", "codegen": "gpt2", "opt-": "gpt2",
    "bloom": "gpt2", "vit": "vit", "vision transformer": "vit", "deit": "vit"}
# They look like a family and cannot be computed as one.
FAMILY_WORDS |= dict.fromkeys(["deberta", "t5", "mobilevit", "levit", "maxvit", "convit", "crossvit", "vivit", "vitdet",
                               "vit-mae", "swin"], "")
NEOX = {"neox", "pythia", "gpt-j", "codegen"}  # config.json of EleutherAI/gpt-neox-20b: no dropout, a head of its own
DIFFERS = dict.fromkeys(NEOX, "as a GPT: attention before the MLP, learned positions") | {
    "opt-": "as a GPT: GELU", "bloom": "as a GPT: learned positions", "deit": "as a ViT: no token of distillation"}
TIED = ["qwen3-0.6b", "qwen3-1.7b", "qwen3-4b"]  # their config.json: tie_word_embeddings
ENCODERS = {"bert", "roberta", "distilbert", "electra", "albert", "vit"}
# Blocks that are not those of BlockSpec (LayerNorm and a GELU MLP).
OTHER_BLOCKS = ["swiglu", "silu", "rmsnorm", "rotary", "rope"]


def family_word(name):
    words = [word for word in FAMILY_WORDS if word in name.lower()]
    return max(words, key=len, default="")


def about(row):
    return (row["model"] + " " + row["notes"]).lower()


def model_columns(row):
    name = row["model"].lower()
    if " block" in name:
        return {"like": "blocks",
                "block": next((word for word in OTHER_BLOCKS if word in about(row)), ""),
                "causal": "no" if "full attention" in about(row) or "non-causal" in about(row) else ""}
    word = family_word(name)
    out = {"like": FAMILY_WORDS.get(word, ""), "assumed": DIFFERS.get(word, "")}
    if word in NEOX:
        out |= {"dropout": "no", "tied": "no"}
    if row["kind"] == "memory" and any(tied in name for tied in TIED):
        out["tied"] = "yes"
    if out["like"] == "vit":
        out |= vit_columns(row, out["assumed"])
    elif out["like"] in ENCODERS:
        out["labels"] = search(r"(\d{1,5}) (?:labels|classes)", about(row))
    return out


# ---- pictures: "ViT-B/16, 224 pixels", "vit, image 28 patch 7", "deit-tiny"

VIT_SIZES = {"tiny": (192, 12, 3, 768), "small": (384, 12, 6, 1536), "base": (768, 12, 12, 3072),
             "large": (1024, 24, 16, 4096), "huge": (1280, 32, 16, 5120)}
PATCHES = [r"patch(?:es)?[-_ ]*(?:size)?[-_ =:]*(?:of )?(\d{1,5})", r"\b(\d{1,5}) ?x ?\1(?: pixel)? patch",
           r"\b(\d{1,5})[- ]?(?:px|pixels?)[- ]patch",
           r"(?:vit|deit)[-_ ]?(?:tiny|small|base|large|huge|ti|[tsblh])[-_ ]?/ ?(\d{1,5})",
           r"(?:vit|deit)[-_ ](?:ti|[tsblh])[-_]?(\d{1,5})"]
IMAGES = [r"patch[-_ ]?\d+[-_](\d{1,5})", r"[a-z]/\d+ ?[-_@ ] ?(\d{2,5})",
          r"(?:image|picture|resolution|input)[-_ ]?(?:size)?[-_ =:]*(?:of )?(\d{1,5})",
          r"\b(\d{1,5}) ?x ?\1\b(?! ?(?:pixel )?patch)", r"\b(\d{1,5})[- ]?(?:px|pixels?)\b(?![- ]*patch)",
          r"@ ?(\d{1,5})"]
VIT_PRESET = r"^vit-(tiny|small|base|large|huge)-patch(\d+)-(\d+)$"


def first_of(patterns, *texts):
    for text in texts:
        for pattern in patterns:
            if number := search(pattern, text):
                return int(number)
    return 0


def grid_of(length):
    """Patches along a side of a picture whose sequence is that long: with the class token, without it, or with a token
    more, of distillation."""
    for patches in (length - 1, length, length - 2):
        side = round(max(patches, 0) ** 0.5)
        if side > 0 and side * side == patches:
            return side
    return 0


def cut(image, patch, length, usual):
    """Sizes of picture and patch: what is not told follows from the other and from the length, or is usual."""
    grid = grid_of(length)
    if grid and image and not patch and image % grid == 0:
        patch = image // grid
    if grid and patch and not image:
        image = patch * grid
    if grid and not patch and not image:
        image, patch = (usual[0], usual[0] // grid) if usual[0] % grid == 0 else (usual[1] * grid, usual[1])
    return image, patch


def vit_columns(row, differs):
    name, notes = row["model"].lower(), row["notes"].lower()
    text = name + "\n" + notes
    preset = re.match(VIT_PRESET, re.sub(r"[_ ]", "-", name))
    usual = (int(preset[3]), int(preset[2])) if preset else (28, 7) if name == "vit-mnist" else (224, 16)
    length = int(row["seq_len"]) if row["seq_len"].isdigit() else 0
    image, patch = cut(first_of(IMAGES, name, text), first_of(PATCHES, name, text), length, usual)
    out, said = {"like": "vit"}, [differs] if differs else []
    preset = preset or name == "vit-mnist"
    if not image and not preset:
        said.append(f"pictures of {usual[0]} pixels")
    if not patch and not preset:
        said.append(f"patches of {usual[1]} pixels")
    image, patch = image or usual[0], patch or usual[1]
    if not preset:
        letter = search(r"(?:vit|deit)[-_ ](ti|[tsblh])(?![a-z])", name)
        sizes = next((sizes for size, sizes in VIT_SIZES.items() if size in name or letter in (size[:1], size[:2])), None)
        if sizes:
            out |= zip(("hidden", "layers", "heads", "ffn"), sizes)
        else:  # somebody's own
            out["like"] = "vit-mnist"
            said.append("blocks of torch.nn.MultiheadAttention")
    grey = image == 28  # pictures of 28 pixels are those of MNIST and its like: grey, of ten kinds
    channels = search(r"\b(\d{1,2})[- ]channels?", text)
    if not channels and not preset:
        channels = 1 if grey else 3
        said.append(f"{channels} channel{'' if grey else 's'}")
    labels = row["vocab"] if row["vocab"] not in ("", "0", "-", "unknown") else search(
        r"\b(\d{1,5})[- ](?:labels|classes)", text)
    if not labels:
        labels = 10 if grey else 1000
        said.append(f"{labels} labels")
    return out | {"image": image, "patch": patch, "channels": channels, "labels": labels, "assumed": "; ".join(said)}


# ---- the job

SAMPLES = (r"([0-9][0-9,]*)\s+(?:training\s+)?"
           r"(?:samples|sentences|reviews|tweets|examples|rows|images|pictures)")
EVALUATION = r"evaluation of ([0-9][0-9,]*) samples after each epoch"
LORA = (r"lora r\s*=?\s*(\d+)(?:,? alpha\s*=?\s*(\d+))?(?:,? dropout\s*=?\s*([0-9.]+\d))?"
        r"(?: on ((?:(?:q|k|v|o|gate|up|down)\b ?)+))?")


def number(digits):
    return digits.replace(",", "")


def lora_of(row):
    found = re.search(LORA, row["notes"].lower())
    if not found:
        return ""
    out = [f"rank={found[1]}"] + [f"{key}={found[i]}" for i, key in ((2, "alpha"), (3, "dropout")) if found[i]]
    return " ".join(out + (["layers=" + ",".join(found[4].split())] if found[4] else []))


def training_columns(row, is_encoder):
    """Of a job that trains: what its time is of, how long it is, its head."""
    notes, text = row["notes"], about(row)
    out = {"release": release_of(row), "lora": lora_of(row)}
    if "timed steps" in text:
        out["timing"] = "steps"
    elif "community run" in (row["source"] + " " + notes).lower():
        out["timing"] = "trial"
    if not is_encoder:
        tokens = search(r"(\d+(?:\.\d+)?)\s*M tokens", notes)
        return out | {"tokens": round(float(tokens) * 1e6) if tokens else "",
                      "steps": search(r"wall clock of (\d+) steps", notes)}
    if "token classification" in text:
        out["head"] = "tokens"
    # Gradients are accumulated outside of HF Trainer: among the published runs of encoders pre-training alone does.
    accumulates = row["grad_accum"].isdigit() and int(row["grad_accum"]) > 1 and stack_of(row) != "hf-trainer"
    if accumulates or any(word in text for word in ("mlm", "pre-train", "pretrain")):
        out["head"] = "pretraining"
    out["eval_samples"] = number(search(EVALUATION, notes))
    notes = re.sub(EVALUATION, "", notes, count=1)
    out |= {"samples": number(search(SAMPLES, notes)), "steps": search(r"([0-9]+)\s+steps", notes)}
    epochs = r"([0-9]+)\s+epochs?"
    return out | {"epochs": search(epochs, row["metric"]) or search(epochs, notes)}


def job_columns(row):
    out = model_columns(row)
    if row["kind"] == "train" and out["like"] == "blocks":
        out["release"] = release_of(row)
    elif row["kind"] == "train":
        out |= training_columns(row, out["like"] in ENCODERS or out["like"] == "vit-mnist")
    elif row["kind"] == "generate":
        out |= {"prompt_tokens": search(r"input\s+(\d+)", row["notes"]),
                "new_tokens": search(r"output\s+(\d+)", row["notes"])}
    if "not published" in row["notes"] or "not stated" in row["notes"]:
        out["untold"] = "yes"
    return out


# ---- kernels and the like

BYTES = {"fp32": 4, "int32": 4, "fp16": 2, "bf16": 2, "int8": 1, "fp8": 1}


def shape_sizes(shape):
    """Of "10944x2048" alone."""
    return [int(size) for size in shape.split("x")] if re.fullmatch(r"\d+(x\d+)*", shape) else []


def adamw(row, what):
    """A profile that counts one written tensor says that the moments are not written back."""
    written, sizes = search(r"([0-9.]+)\s*MB\s+written", row["notes"]), shape_sizes(row["shape"])
    if not written or len(sizes) != 2:
        return "adamw"
    tensor = sizes[0] * sizes[1] * BYTES.get(row["dtype"], 4)
    return "adamw" if float(written) * 1e6 > 2 * tensor else "adamw moments=dropped"


def mamba(row, what):
    versions = [version for version in "123" if "v" + version in what]
    return f"mamba version={versions[-1]}" if versions else "mamba"


def vector_add(row, what):
    if tile := re.search(r"(\d+)\s*x\s*(\d+)", what):
        return f"vector-add tile={tile[1]}x{tile[2]}"
    found = re.search(r"(?:of|in)\s+(\d+)|(\d+)\s+elements", what)
    return f"vector-add elements={found[1] or found[2]}" if found else "vector-add"


def blocks(row, what):
    count = search(r"(\d+)\s+(?:(?:decoder|encoder|transformer)?\s*)blocks?", what)
    if not count or "forward" not in what or "GELU" not in row["shape"].split():
        return ""
    return f"blocks layers={count}" + flags(what, "causal")


def flags(what, *names):
    return "".join(" " + name for name in names if name in what and not (name == "causal" and "non-causal" in what))


KERNELS = [  # the first word that the text has decides
    ("adamw", adamw), ("swiglu", lambda row, what: "swiglu"), ("lora", lambda row, what: "lora"), ("mamba", mamba),
    ("scan", mamba), ("vector add", vector_add), ("blocks", blocks), ("rope", lambda row, what: "rope"),
    ("rotary", lambda row, what: "rope")] + [
    (word, lambda row, what: "attention" + flags(what, "causal", "flash", "backward"))
    for word in ("attention", "gqa", "mha")]

STEPS = {"matmul": "matmul", "gemm": "matmul", "mm": "matmul", "bmm": "matmul", "linear": "matmul",
         "rmsnorm": "rmsnorm", "add": "add", "residual": "add", "bias": "bias", "layernorm": "layernorm",
         "softmax": "softmax", "mul": "multiply", "multiply": "multiply", "silu": "silu", "swish": "silu",
         "gelu": "gelu", "tanh": "tanh", "gelutanh": "gelu_tanh", "transpose": ""}
FILLERS = set("a an and batch batched by compiled dense element elementwise forward from function fused framework hbm in "
              "kernel naive nki of on one optimized over row rows the then to with".split())
NAMES = [(r"rms[\s_-]*norm(alization)?", "rmsnorm"), (r"layer[\s_-]*norm(alization)?", "layernorm"),
         (r"mat(rix)?[\s_-]*mul(tiply|tiplication)?", "matmul "), (r"batchmatmul|batch_matmul", "matmul "),
         (r"gelu[\s_-]*tanh", "gelutanh"), (r"residual[\s_-]*add|add[\s_-]*residual", "add")]


def chain(what):
    """The steps of "matmul, then add and RMSNorm"; nothing when a word is none."""
    for pattern, plain in NAMES:
        what = re.sub(pattern, plain, what)
    steps = []
    for word in re.findall(r"[a-z]+\d*|\d[\dx.]*", what):
        if word[0].isdigit() or word in FILLERS:
            continue
        if word not in STEPS:
            return ""
        steps += [STEPS[word]] if STEPS[word] else []
    return "+".join(steps) or ("transpose" if "transpose" in what else "")


def kernel(row, what):
    for word, plan in KERNELS:
        if word in what:
            return plan(row, what)
    return chain(what)


def gemm(row, what):
    if "nki" in what:
        return "nki"
    steps = chain(what)
    return steps if "matmul" in steps.split("+") else ""


def memory(row, what):
    traffic = next((word for word in ("copy", "write", "read") if word in what), "")
    if not traffic or "sbuf" in what or "psum" in what:
        return ""
    found = re.search(r"(\d+)\s*(b|kib|kb|mib)\s*(?:-\s*)?(?:rows?|descriptors?|pieces?|chunks?)", what)
    unit = {"b": 1, "kb": 1000, "kib": 1024, "mib": 1 << 20}
    return traffic + (f" row={int(found[1]) * unit[found[2]]}" if found else "")


# What a profile prints: all of the words are in the text, and the first such question is asked. The last member: which
# columns stream through the engine, "one" number or "two".
QUESTIONS = [
    (("descriptor", "duration"), "descriptor", ""), (("issue to first descriptor",), "issue-to-descriptor", "one"),
    (("activate", "to store"), "activate-to-store", "one"),
    (("matmul end", "activate start"), "matmul-to-activate", "one"),
    (("ldweights start", "matmul start"), "load-to-matmul", "one"), (("ldweights", "duration"), "load", ""),
    (("matmul", "start to start"), "matmul-interval", "one"), (("matmul", "issue to issue"), "matmul-interval", "one"),
    (("matmul", "duration"), "matmul-latency", "one"), (("act_table_load",), "table-load", ""),
    (("activate", "per element"), "activate-per-element", "two"), (("activate", "fixed part"), "activate-fixed", "two"),
    (("activate", "issue to issue"), "activate", "one"), (("activate", "start to start"), "activate", "one"),
    (("activate", "duration"), "activate", "one"), (("tensor_load",), "tensor-load", ""),
    (("tensor_store",), "tensor-store", ""), (("semaphore", "clear"), "semaphore-clear", ""),
    (("sequencer", "write"), "sequencer-write", ""), (("sequencer", "duration"), "sequencer-step", "")]
STREAMS = {"activat": "activation", "scan": "tensor_tensor_scan", "tensor_tensor": "tensor_tensor",
           "tensor_scalar": "tensor_scalar", "tensor_reduce": "tensor_reduce", "tensor_copy": "tensor_copy",
           "reciprocal": "reciprocal", "memset": "memset", "iota": "iota", "matmul": "matmul"}


def columns_streamed(row, what, how):
    sizes = re.findall(r"\d+", row["shape"])
    if how == "two":
        return f" n={sizes[-2]}..{sizes[-1]}" if len(sizes) > 2 else ""
    n = search(r"\bn\s*=\s*(\d+)", what) or (sizes[-1] if sizes else "")
    return f" n={n}" if how == "one" and n else ""


def instruction(row, what):
    for words, name, how in QUESTIONS:
        if all(word in what for word in words):
            from_sbuf = " sbuf" if name.startswith(("activate", "table")) and "sbuf ->" in what else ""
            return name + columns_streamed(row, what, how) + from_sbuf
    name = next((name for word, name in STREAMS.items() if word in what), "")
    dependent = "dependent" in what and "independent" not in what
    return name and f"stream op={name}" + (" dependent" if dependent else "")


COLLECTIVES = ["all-reduce", "all-gather", "reduce-scatter", "all-to-all", "broadcast", "barrier"]


def collective(row, what):
    return next((name for name in COLLECTIVES if what.startswith(name)), "")


def launch(row, what):
    return "torch-xla" if "torch-xla" in what else ""


def host(row, what):
    if "copy" in what:
        return "copy"
    loader = "prefetch" in what or "mpdeviceloader" in what
    return ("mlp prefetch" if loader else "mlp") if "mlp" in what else ""


MICRO = {"gemm": gemm, "memory": memory, "kernel": kernel, "instruction": instruction, "collective": collective,
         "launch": launch, "host": host}


def micro_columns(row):
    guess = MICRO.get(row["kind"])
    return {"kernel": guess(row, row["what"].lower()) if guess else ""}


# ---- graphs that are compiled

PRESETS = """bert-base-uncased bert-base-cased bert-large-uncased bert-small bert-base bert-large roberta-base
roberta-large distilbert-base-uncased electra-small electra-base electra-large albert-base albert-large
albert-xlarge llama2-7b llama2-13b llama2-70b llama3-8b llama3-70b llama3.1-8b llama3.1-70b llama3.1-405b
llama3.2-1b llama3.2-3b llama-small mistral-7b mistral-7b-v0.3 qwen2-0.5b qwen2-1.5b qwen2-7b qwen2.5-14b
qwen2.5-72b qwen3-0.6b qwen3-1.7b qwen3-4b qwen3-8b qwen3-14b qwen3-32b gemma-2b gemma-7b granite-3.0-2b
granite-3.0-8b phi3-mini phi3-medium phi-4 phi3.5-mini mixtral-8x7b mixtral-8x22b mixtral-small qwen3-30b-a3b
qwen3-235b-a22b olmo2-1b olmo2-7b olmo2-13b gpt-small gpt2 gpt2-medium gpt2-large gpt2-xl gpt3-6.7b
gpt3-13b gpt3-23b gpt3-46b gpt3-175b vit-base-patch16-224 vit-base-patch32-224 vit-base-patch16-384
vit-large-patch16-224 vit-huge-patch14-224 vit-small-patch16-224 vit-tiny-patch16-224 vit-mnist t5-small
t5-base t5-large t5-v1_1-small t5-v1_1-base t5-v1_1-large t5-v1_1-xl t5-tiny""".split()


def plain(text):
    return re.sub(r"[-_ ]", "", text.lower())


def graph_columns(row):
    """Of the table of compile times: the preset with the longest name that the text has, at any size that it gives."""
    what = row["what"].lower()
    training = " training" if "train" in what else ""
    sizes = search(r"(\d+(?:-\d+)+)", what)
    if sizes and "mlp" in what:
        return {"graph": f"mlp sizes={sizes}{training}"}
    names = [name for name in PRESETS if plain(name) in plain(what)]
    model = max(names, key=len, default="")
    if not model and "vit" in plain(what):
        model = "vit-mnist"
    layers = ""
    if not model and "tinyllama" in plain(what):  # its config.json
        model, layers = "llama2-7b", "22"
    found = re.search(r"(\d+)\s+layers|layers\s+(\d+)", what)
    layers = (found[1] or found[2]) if found else layers
    if not model:
        return {"graph": ""}
    # Hugging Face's Trainer, which clips; plain loops do not. Such scripts recompute.
    trainer = " trainer" if "ner" in what or "lora" in what else ""
    return {"graph": model + (f" layers={layers}" if layers else "") + training + trainer +
            (" lora" if "lora" in what else "") + (" head=tokens" if model != "vit-mnist" and ("ner" in what or "token" in what) else "")}


# ---- tables

JOB_COLUMNS = """like image patch channels labels tied dropout block causal head release timing samples epochs steps
eval_samples tokens prompt_tokens new_tokens lora untold assumed""".split()


def kind_of_table(header):
    """What its rows are, by a column that no other kind has; the new columns."""
    if "metric" in header:
        return job_columns, JOB_COLUMNS
    return (graph_columns, ["graph"]) if "cold" in header else (micro_columns, ["kernel"])


def convert(table, out):
    rows = list(csv.reader(table))
    header, rows = rows[0] if rows else [], [dict(zip(rows[0], cells)) for cells in rows[1:] if cells]
    if not {"id", "kind", "source", "notes"} <= set(header):
        sys.exit("columns.py: this is no table of measurements\n  fix: see docs/validation.md for the columns of one")
    guess, known = kind_of_table(header)
    new = [column for column in known if column not in header]
    for row in rows:
        guessed = guess(row)
        row.update({column: str(guessed.get(column, "")) for column in new})
        # Sizes that a variant's name stands for, where the table has none.
        row.update({column: str(size) for column, size in guessed.items()
                    if column in header and column not in known and row[column] in ("", "0", "-", "unknown")})
    new = [column for column in new if any(row[column] for row in rows)]
    at = header.index("source")
    header = header[:at] + new + header[at:]
    writer = csv.DictWriter(out, header, extrasaction="ignore", lineterminator="\n")
    writer.writeheader()
    writer.writerows(rows)


def main():
    if len(sys.argv) != 2:
        sys.exit("usage: columns.py OLD.csv >NEW.csv")
    with open(sys.argv[1], newline="", encoding="utf-8-sig") as table:
        convert(table, sys.stdout)


if __name__ == "__main__":
    main()
