"""Draws trainings: a family with sizes that are not multiples of anything, a task, every option of the optimizer, a
plan, a number format, adapters. A draw is a dictionary, so that it can be shrunk and printed."""
import math
import random

import bart
import decoder
import decoder_relatives
import encoder
import encoder_relatives
import gpt
import odd_keys
import plain
import t5
from draw_plans import MIXTURES, a_plan

DECODERS = [family for family in decoder.FAMILIES if family not in ("phi3_long", "phi3_partial", "mixtral_capacity",
                                                                    "gemma_wide")]
ENCODERS = [*encoder.FAMILIES, *(f + "_tokens" for f in ("bert", "electra", "roberta")),
            *(f + "_mlm" for f in ("bert", "roberta", "distilbert", "electra", "albert"))]
RELATIVES = [*encoder_relatives.FAMILIES, *(f + "_tokens" for f in ("embedding_gemma", "esm", "modernbert", "mpnet", "rembert",
                                                                 "roformer", "deberta-v2", "new", "nomic_bert", "eurobert")),
             *(f + "_mlm" for f in ("esm", "mpnet", "modernbert", "megatron-bert", "rembert", "roformer", "xlm",
                                    "xlm-roberta-xl", "deberta", "deberta-v2", "new", "nomic_bert", "eurobert"))]
KINDS = {"decoder": 8, "plain": 3, "decoder relative": 6, "gpt": 2, "encoder": 5, "encoder relative": 4, "vit": 2,
         "t5": 2, "bart": 1}
VITS = ["vit", "deit_teacher", "siglip", "dinov2", "dinov2_gated", "dinov2_with_registers", "vit_msn", "ijepa", "dinov3",
        "dinov3_gated"]
JOINT = ("olmo2", "olmoe", "olmo3", "olmo3_yarn", "flex_olmo", "minimax_m2")  # heads that are normed as one: no rank has some of them
CLASSIFIERS = ("llama", "mistral", "qwen2", "qwen3", "gemma", "phi3")
ADAPTED = ("internlm", "internlm3", "minicpm", "orion", "cohere", "cohere2", "helium", "ernie4_5", "seed_oss", "exaone4", "olmo", "llama_bias")
LATENT = ("deepseek_v", "kimi")
TARGETS = ["q_proj", "k_proj", "v_proj", "o_proj", "gate_proj", "up_proj", "down_proj"]


def upto(draw, low, high):
    """A size; now and then one that takes several tiles of a core."""
    return draw.randint(low, high * (6 if draw.random() < 0.06 else 1))


def a_decoder(family, draw):
    seq = draw.choice([upto(draw, 4, 80), 8 * upto(draw, 1, 10)])  # ranks share a sequence that they divide
    heads = draw.randint(1, 8)
    shared = draw.choice([n for n in range(1, heads + 1) if heads % n == 0])
    if family in ("olmo2", "stablelm"):
        shared = heads
    vocab = draw.choice([upto(draw, 20, 400), 8 * draw.randint(3, 50)])
    changes = {"vocab_size": vocab, "hidden_size": upto(draw, 4, 140), "num_hidden_layers": draw.randint(1, 4),
               "num_attention_heads": heads, "num_key_value_heads": shared, "head_dim": 2 * upto(draw, 1, 20),
               "intermediate_size": upto(draw, 3, 200), "max_position_embeddings": seq + draw.randint(0, 9),
               "rms_norm_eps": draw.choice([1e-5, 1e-6]), "rope_theta": draw.choice([1e3, 1e4, 5e5]),
               "tie_word_embeddings": draw.random() < 0.5}
    if family in ("mistral", "phi3", "gemma2", "gemma3"):
        changes["sliding_window"] = draw.randint(2, seq + 3)
    if family in MIXTURES:
        count = draw.randint(2, 8)
        changes["num_local_experts" if family == "mixtral" else "num_experts"] = count
        changes["num_experts_per_tok"] = draw.randint(1, min(count, 3))
        changes["moe_intermediate_size"] = changes["intermediate_size"]
        # Two experts that are all but equally likely are chosen otherwise after one rounding.
        changes["hidden_size"] = draw.randint(4, 32)
    if family in ("qwen3_moe_step", "qwen3_moe_listed"):  # at least one layer has experts
        layers = draw.randint(2, 5)
        step = draw.randint(1, layers)
        with_experts = list(range(step - 1, layers, step))
        changes |= {"num_hidden_layers": layers, "decoder_sparse_step": step, "intermediate_size": upto(draw, 3, 200),
                    "mlp_only_layers": draw.sample(with_experts, draw.randint(0, len(with_experts) - 1))}
    if family in ("qwen2_window", "qwen3_window"):
        changes |= {"sliding_window": draw.randint(2, seq + 3), "max_window_layers": draw.randint(0, 4)}
    if family in ("phi3", "stablelm"):  # their files have no size of a head
        changes["head_dim"] = 4 * draw.randint(1, 16) if family == "stablelm" else changes["head_dim"]
        changes["hidden_size"] = heads * changes["head_dim"]
    if family == "gemma2":
        changes["query_pre_attn_scalar"] = draw.randint(2, 64)
    return changes, {"BATCH": draw.randint(1, 4), "SEQ": seq, "VOCAB": vocab}, 1 if family in JOINT else shared


def a_plain(family, draw):
    seq, heads, vocab = 8 * upto(draw, 1, 12), draw.randint(1, 6), upto(draw, 20, 400)
    heads = draw.choice([1, 2, 4]) if family == "falcon_rw" else heads
    hidden = heads * 4 * draw.randint(1, 12)
    changes = {"vocab_size": vocab, "hidden_size": hidden, "num_hidden_layers": draw.randint(1, 4),
               "num_attention_heads": heads, "max_position_embeddings": seq + draw.randint(0, 9)}
    changes["ffn_dim" if family.startswith("opt") else "intermediate_size"] = upto(draw, 3, 200)
    if family.startswith("opt"):
        changes["word_embed_proj_dim"] = hidden if family == "opt" else draw.randint(2, 60)
    shared = heads
    if family.startswith("phi"):
        changes["num_key_value_heads"] = heads
    if family in ("starcoder2", "falcon_40b", "falcon_11b"):
        shared = draw.choice([n for n in range(1, heads + 1) if heads % n == 0])
        changes["num_key_value_heads" if family == "starcoder2" else "num_kv_heads"] = shared
    if family == "starcoder2":
        changes["sliding_window"] = draw.randint(2, seq + 3)
    if family == "gpt_neo":
        pairs, odd = divmod(changes["num_hidden_layers"], 2)
        changes["attention_types"] = [[["global", "local"], pairs]] * (pairs > 0) + [[["global"], 1]] * odd
        changes["window_size"] = draw.randint(2, seq + 3)
    if family in ("gpt_bigcode", "falcon"):
        shared = 1
    return changes, {"BATCH": draw.randint(1, 4), "SEQ": seq, "VOCAB": vocab}, shared


def a_decoder_relative(family, draw):
    seq, vocab, size = 8 * upto(draw, 1, 12), upto(draw, 20, 400), 4 * draw.randint(1, 12)
    heads = draw.choice([4, 8]) if family == "codegen" else draw.randint(1, 8)
    shared = draw.choice([n for n in range(1, heads + 1) if heads % n == 0])
    if family in ("codegen", "gptj", "bloom", "mpt", "persimmon", "baichuan", "baichuan_slopes", "qwen", "minicpm3", "modernbert-decoder") \
            or family.startswith(LATENT):
        shared = heads
    changes = {"vocab_size": vocab, "hidden_size": heads * size, "num_hidden_layers": draw.randint(1, 4),
               "num_attention_heads": heads, "num_key_value_heads": shared, "head_dim": size,
               "intermediate_size": upto(draw, 3, 200), "max_position_embeddings": seq + draw.randint(0, 9),
               "eps": draw.choice([1e-5, 1e-6]) if family not in ("olmo", "olmo_clip", "dbrx") else 1e-5, "rope_theta": draw.choice([1e3, 5e5])}
    if family in ("bloom", "mpt"):
        changes["intermediate_size"] = 4 * heads * size
    if family in ("gptj", "codegen"):
        changes |= {"rotary_dim": 2 * draw.randint(1, size // 2), "rope_theta": 10000.0}
    if decoder_relatives.FAMILIES[family].get("sliding_window"):
        every, layers = draw.randint(1, 3), changes["num_hidden_layers"]
        kinds = ["full_attention" if (i + 1) % every == 0 else "sliding_attention" for i in range(layers)]
        changes |= {"sliding_window": draw.randint(2, seq + 3),
                    **({"layer_types": kinds} if family != "cohere2" else {}),
                    **({"sliding_window_pattern": every} if not family.startswith(("olmo3", "gpt_oss")) else {})}
    if family == "modernbert-decoder":
        first = draw.randint(0, 1)  # of each few layers the first or the last sees all
        kinds = ["full_attention" if (i + 1 - first) % every == 0 else "sliding_attention" for i in range(layers)]
        changes |= {"local_attention": 2 * changes["sliding_window"] + draw.randint(0, 1), "layer_types": kinds,
                    "global_attn_every_n_layers": every}
        del changes["sliding_window_pattern"]
    if "n_routed_experts" in decoder_relatives.FAMILIES[family]:
        changes |= {"first_k_dense_replace": draw.randint(0, changes["num_hidden_layers"] - 1),
                    "moe_intermediate_size": upto(draw, 3, 60)}
    if family.startswith("granitemoehybrid"):
        changes["layer_types"] = ["attention"] * changes["num_hidden_layers"]
    if family == "ministral3":
        original = draw.randint(3, seq + 5)
        changes["rope_parameters"] = {**decoder_relatives.FAMILIES[family]["rope_parameters"],
                                      "rope_theta": changes["rope_theta"], "original_max_position_embeddings": original,
                                      "llama_4_scaling_beta": draw.choice([0.1, 1.0])}
    if family.startswith(LATENT):
        still, turned = draw.randint(1, 12), 2 * draw.randint(1, 6)
        still += still % 2
        changes |= {"head_dim": None, "kv_lora_rank": draw.randint(2, 40), "qk_nope_head_dim": still,
                    "qk_rope_head_dim": turned, "v_head_dim": draw.randint(1, still + turned)}
    if family == "minicpm3":
        changes |= {"head_dim": None, "q_lora_rank": draw.choice([None, 12]), "kv_lora_rank": draw.randint(2, 40),
                    "qk_nope_head_dim": size, "qk_rope_head_dim": 2 * draw.randint(1, size // 2), "v_head_dim": size}
    if family.startswith("baichuan"):
        changes |= {"model_max_length": changes["max_position_embeddings"], "rope_theta": 10000.0}
    if family == "baichuan_slopes":
        changes["max_position_embeddings"] = None
    if family == "llama4_text":
        changes |= {"num_local_experts": 2 * draw.randint(1, 4), "num_experts_per_tok": draw.randint(1, 2),
                    "intermediate_size_mlp": upto(draw, 3, 200), "no_rope_layer_interval": draw.randint(1, 4),
                    "interleave_moe_layer_step": draw.randint(1, changes["num_hidden_layers"]),
                    "attention_chunk_size": seq + draw.randint(0, 9), "floor_scale": seq + draw.randint(0, 9),
                    "use_qk_norm": draw.random() < 0.7}
    if family == "gpt_oss":
        changes["swiglu_limit"] = draw.choice([0.05, 0.3, 7.0])
    if family == "minimax_m2":
        changes["rotary_dim"] = 2 * draw.randint(1, size // 2)
    if family in ("granitemoe", "granitemoeshared", "qwen2_moe", "flex_olmo", "gpt_oss", "dbrx", "minimax_m2"):
        count = draw.randint(2, 8)
        changes |= {"num_local_experts" if family.startswith(("granite", "gpt_oss", "dbrx", "minimax")) else "num_experts": count,
                    "num_experts_per_tok": draw.randint(1, min(count, 3))}
    if family == "qwen2_moe":
        changes["moe_intermediate_size"] = changes["intermediate_size"]
    return changes, {"BATCH": draw.randint(1, 4), "SEQ": seq, "VOCAB": vocab}, 1 if family in JOINT else shared


def a_gpt(_, draw):
    seq, heads = 8 * upto(draw, 1, 12), draw.randint(1, 6)
    changes = {"n_embd": heads * draw.randint(1, 24), "n_head": heads, "n_layer": draw.randint(1, 4),
               "n_positions": seq + draw.randint(0, 9)}
    return changes, {"BATCH": draw.randint(1, 4), "SEQ": seq}, heads


def a_vit(family, draw):
    patch, heads = draw.randint(1, 5), draw.randint(1, 4)
    changes = {"patch_size": patch, "image_size": patch * draw.randint(1, 7), "num_channels": draw.randint(1, 4),
               "hidden_size": heads * draw.randint(1, 20), "num_attention_heads": heads,
               "num_hidden_layers": draw.randint(1, 3)}
    if family.startswith("dinov3"):
        changes["hidden_size"] = 4 * heads * draw.randint(1, 6)
    if family.startswith("dinov2"):
        changes["mlp_ratio"] = draw.choice([1, 2, 3, 4])
    else:
        changes["intermediate_size"] = draw.randint(3, 120)
    if family == "dinov2_with_registers" or family.startswith("dinov3"):
        changes["num_register_tokens"] = draw.randint(1, 5)
    return changes, {"BATCH": draw.randint(1, 6), "LABELS": draw.randint(2, 9)}, heads


def an_encoder(family, draw):
    base = family.split("_")[0]
    seq, heads, vocab, labels = upto(draw, 8, 90), draw.randint(1, 8), upto(draw, 20, 400), upto(draw, 2, 9)
    hidden, layers, ffn = heads * draw.randint(1, 24), draw.randint(1, 3), upto(draw, 3, 200)
    names = {str(i): f"LABEL_{i}" for i in range(labels)}
    changes = {"vocab_size": vocab, "max_position_embeddings": seq + draw.randint(2, 9), "id2label": names,
               "label2id": {name: int(i) for i, name in names.items()}}
    if base == "distilbert":
        changes |= {"dim": hidden, "n_layers": layers, "n_heads": heads, "hidden_dim": ffn}
    else:
        changes |= {"hidden_size": hidden, "num_hidden_layers": layers, "num_attention_heads": heads,
                    "intermediate_size": ffn}
    if base in ("electra", "albert"):
        changes["embedding_size"] = draw.choice([hidden, draw.randint(2, 60)])
    if base == "bert":
        changes["type_vocab_size"] = draw.randint(1, 3)
    sizes = {"BATCH": draw.randint(1, 5), "SEQ": seq, "VOCAB": vocab, "H": hidden, "LAYERS": layers, "HEADS": heads,
             "FFN": ffn, "LABELS": labels}
    return changes, sizes, heads


def a_t5(_, draw):
    read, vocab, heads = upto(draw, 6, 80), upto(draw, 20, 400), draw.randint(1, 8)
    changes = {"vocab_size": vocab, "d_model": upto(draw, 4, 160), "d_kv": draw.randint(1, 40),
               "d_ff": upto(draw, 3, 300), "num_layers": draw.randint(1, 3), "num_decoder_layers": draw.randint(1, 3),
               "num_heads": heads, "n_positions": read, "relative_attention_num_buckets": 4 * draw.randint(2, 8),
               "relative_attention_max_distance": draw.randint(40, 128)}
    sizes = {"BATCH": draw.randint(1, 4), "READ": read, "WRITTEN": math.ceil(read / 2) + draw.randint(1, 4),
             "VOCAB": vocab}
    return changes, sizes, heads


def an_encoder_relative(family, draw):
    seq, heads, vocab, labels = upto(draw, 8, 90), draw.randint(1, 8), upto(draw, 40, 400), upto(draw, 2, 9)
    hidden, layers, ffn = heads * 2 * draw.randint(1, 12), draw.randint(1, 4), upto(draw, 3, 200)
    names = {str(i): f"LABEL_{i}" for i in range(labels)}
    changes = {"max_position_embeddings": seq + draw.randint(2, 9), "id2label": names,
               "label2id": {name: int(i) for i, name in names.items()}}
    if family.startswith(("xlm_", "flaubert")) or family == "xlm":
        changes |= {"n_words": vocab, "emb_dim": hidden, "n_layers": layers, "n_heads": heads}
    elif family.startswith("nomic"):
        changes |= {"vocab_size": vocab, "n_embd": hidden, "n_layer": layers, "n_head": heads, "n_inner": 256,
                    "n_positions": changes.pop("max_position_embeddings")}
    else:
        changes |= {"vocab_size": vocab, "hidden_size": hidden, "num_hidden_layers": layers,
                    "num_attention_heads": heads, "intermediate_size": ffn}
    if family.startswith("rembert"):
        changes |= {"input_embedding_size": draw.randint(2, 60), "output_embedding_size": draw.randint(2, 60)}
    if family.startswith("deberta"):
        changes["pooler_hidden_size"] = hidden
    shared = heads
    if family.startswith("embedding_gemma"):
        every = draw.randint(1, 3)
        changes |= {"head_dim": hidden // heads, "query_pre_attn_scalar": draw.randint(2, 64),
                    "sliding_window": draw.randint(2, 2 * seq),
                    "layer_types": ["full_attention" if (i + 1) % every == 0 else "sliding_attention"
                                    for i in range(layers)]}
    if family.startswith(("eurobert", "embedding_gemma")):
        shared = changes["num_key_value_heads"] = draw.choice([n for n in range(1, heads + 1) if heads % n == 0])
    sizes = {"BATCH": draw.randint(1, 5), "SEQ": seq, "VOCAB": vocab, "H": hidden, "HEADS": heads, "FFN": ffn,
             "LABELS": labels}
    return changes, sizes, shared


def a_bart(family, draw):
    read, vocab, heads = upto(draw, 6, 80), upto(draw, 40, 400), draw.randint(1, 8)
    written, ffn = math.ceil(read / 2) + draw.randint(1, 4), upto(draw, 3, 300)
    changes = {"vocab_size": vocab, "d_model": heads * draw.randint(4 if family == "m2m_100" else 1, 24),
               "encoder_ffn_dim": ffn, "decoder_ffn_dim": ffn, "encoder_layers": draw.randint(1, 3), "decoder_layers": draw.randint(1, 3),
               "encoder_attention_heads": heads, "decoder_attention_heads": heads,
               "max_position_embeddings": max(read, written) + draw.randint(0, 9)}
    if family == "whisper":
        changes |= {"d_model": heads * 2 * draw.randint(2, 12), "num_mel_bins": draw.randint(1, 130),
                    "max_source_positions": read, "max_target_positions": changes.pop("max_position_embeddings")}
    return changes, {"BATCH": draw.randint(1, 4), "READ": read, "WRITTEN": written, "VOCAB": vocab}, heads


SHAPES = {"decoder": a_decoder, "plain": a_plain, "decoder relative": a_decoder_relative, "gpt": a_gpt,
          "encoder": an_encoder, "encoder relative": an_encoder_relative, "vit": a_vit, "t5": a_t5, "bart": a_bart}
FAMILIES = {"decoder": DECODERS, "plain": list(plain.FAMILIES), "decoder relative": list(decoder_relatives.FAMILIES),
            "gpt": ["gpt2"], "encoder": ENCODERS, "encoder relative": RELATIVES, "vit": VITS,
            "t5": list(t5.FAMILIES), "bart": list(bart.FAMILIES)}


def a_recipe(draw):
    """Every option of the optimizer. eps keeps a gradient that is nothing but rounding from moving its weight."""
    name = draw.choices(["AdamW", "LAMB", "SGD"], [3, 2, 1])[0]
    schedule = draw.choice(["linear", "cosine", "constant"])
    return {"optimizer": name, "rate": draw.choice([3e-4, 1e-3, 3e-3]) * (10 if name == "SGD" else 1),
            "betas": draw.choice([(0.9, 0.999), (0.8, 0.95), (0.9, 0.95), (0.0, 0.5)]),
            "eps": draw.choice([1e-6, 1e-5, 1e-3]), "momentum": draw.choice([0, 0.5, 0.9, 0.99]),
            "decay": draw.choice([0, 0.01, 0.1, 1.0]), "decay_all": draw.random() < 0.4, "schedule": schedule,
            "warmup": draw.choice([0, 0, 1, 3, 5, 6, 9]), "max_grad_norm": draw.choice([0, 1e-3, 0.05, 0.5, 1.0, 1e6]),
            "smoothing": draw.choice([0, 0.1, 0.7])}


def targets_of(family):
    """Layers that may have adapters: those with a tensor of their own, outside of experts."""
    if family in MIXTURES:
        return TARGETS[:4]
    return ["o_proj", "down_proj"] if family == "phi3" else TARGETS


def an_adapter(family, draw):
    targets = targets_of(family)
    return {"r": draw.randint(1, 12), "lora_alpha": draw.randint(1, 12),
            "target_modules": sorted(draw.sample(targets, draw.randint(1, len(targets))))}


def a_case(seed, number):
    draw = random.Random(f"{seed} {number}")
    kind = draw.choices(list(KINDS), list(KINDS.values()))[0]
    family = draw.choice(FAMILIES[kind])
    shape = SHAPES[kind](family, draw)
    shape[0].update(odd_keys.drawn(family, shape[0], draw))
    adapter = None
    if (kind == "decoder" or family in ADAPTED) and draw.random() < 0.2:
        adapter = an_adapter(family, draw)
    elif (kind not in ("decoder", "decoder relative") or family.startswith("deepseek")) and draw.random() < 0.2:  # of some of its layers, by their names in the weights
        adapter = {"r": draw.randint(1, 12), "lora_alpha": draw.randint(1, 12), "target_modules": draw.randint(1, 1 << 20)}
    elif family in CLASSIFIERS and draw.random() < 0.2:
        family += "_classifier"
    recipe = a_recipe(draw)
    if family.endswith("_classifier"):
        shape[0]["vocab_size"] = shape[1]["VOCAB"] = max(shape[1]["VOCAB"], 24)
    flags = a_plan(kind, family, shape, draw)
    if recipe["optimizer"] == "LAMB":
        flags.pop("--zero_1", None)  # its ratio is of whole tensors
    return {"kind": kind, "family": family, "changes": shape[0], "sizes": shape[1], "recipe": recipe, "flags": flags,
            "adapter": adapter, "seed": seed % 100003 * 1000 + number}


def write(case, folder, trainings=0):
    """Trains it with PyTorch; `trainings` times in the type of its numbers, to see what rounding does."""
    changes, kind = case["changes"], case["kind"]
    # With scores that grow with the sizes, a softmax is 0 or 1, and one rounding changes all that follows.
    width = next(changes[key] for key in ("hidden_size", "d_model", "dim", "n_embd", "emb_dim") if key in changes)
    recipe = {**case["recipe"], "bf16": "--numerics" in case["flags"], "fp32": trainings}
    drawn = {"deviation": min(0.1, 0.6 / math.sqrt(width)), "recipe": recipe}
    arguments = (folder, case["seed"], changes, case["sizes"])
    if case["adapter"]:
        drawn["adapter"] = lambda weights: with_factors(case["adapter"], weights, kind)
    if kind == "gpt":
        return gpt.make_gpt(*arguments, **drawn)
    if kind == "vit":
        return gpt.make_vit(case["family"], *arguments, **drawn)
    module = {"decoder": decoder, "plain": plain, "decoder relative": decoder_relatives, "encoder": encoder,
              "encoder relative": encoder_relatives, "t5": t5, "bart": bart}[kind]
    return module.make(case["family"], *arguments, **drawn)


def layers_of(weights):
    """Names of linear layers of the blocks, without their numbers."""
    return sorted({name.split(".")[-2] for name, weight in weights.items()
                   if name.endswith(".weight") and weight.dim() == 2 and any(part.isdigit() for part in name.split("."))
                   and "relative_attention_bias" not in name})


def with_factors(adapter, weights, kind):
    """PEFT's files: B is not 0, as after some training; what classifies is trained as a whole."""
    torch, factors, targets = decoder.torch, {}, adapter["target_modules"]
    if isinstance(targets, int):
        layers, draw = layers_of(weights), random.Random(targets)
        targets = sorted(draw.sample(layers, draw.randint(1, len(layers))))
    for name, weight in weights.items():
        module, within = name.removesuffix(".weight"), any(part.isdigit() for part in name.split("."))
        if name.endswith(".weight") and within and module.rsplit(".", 1)[-1] in targets and weight.dim() == 2:
            outputs, inputs = reversed(weight.shape) if kind == "gpt" else weight.shape
            factors[module + ".lora_A.weight"] = torch.randn(adapter["r"], inputs) * 0.1
            factors[module + ".lora_B.weight"] = torch.randn(outputs, adapter["r"]) * 0.1
    heads = [name for name in ("classifier", "score") if any(name in weight.split(".") for weight in weights)]
    return {"factors": factors, "conv1d": kind == "gpt",
            "config": {"base_model_name_or_path": ".", "bias": "none", "lora_dropout": 0.0, "peft_type": "LORA",
                       "task_type": "CAUSAL_LM", "modules_to_save": heads or None, **adapter, "target_modules": targets}}
