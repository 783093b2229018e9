"""Jobs: the release of their software, their model, how long they are."""

import re

from sizes import KEYS, SIZES
from words import search

JOB_COLUMNS = """like image patch channels labels tied dropout block causal head release timing samples epochs steps
eval_samples tokens prompt_tokens new_tokens prompt_bucket at_once draft lora untold assumed publisher""".split()

# ---- the host's software

RELEASED = {"torch-xla", "hf-trainer"}  # stacks whose recent releases have files of their own
STACK_WORDS = [  # in the column `stack`; the first one decides (validation/predict/stack_of_row.cpp)
    ("transformers-neuronx", "transformers-neuronx"),
    ("neuronx-distributed-inference", "nxd-inference"), ("nxdi", "nxd-inference"),
    ("megatron", "megatron"), ("nemo", "megatron"),
    ("neuronx-distributed", "neuronx-distributed"), ("nxd", "neuronx-distributed"), ("hf trainer", "hf-trainer"),
    ("hf-trainer", "hf-trainer"), ("optimum", "hf-trainer"), ("bare", "bare"), ("torch-xla", "torch-xla"),
    ("torch-neuronx", "torch-xla"), ("xla", "torch-xla")]


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


def generation_release_of(row):
    """AWS's tables of text generation print Neuron 2.18.1 beside Llama 3 and 2.18.0 beside the other models. Those of
    Inf2 are younger: single long prompts take the time of the kernel that came with 2.19."""
    of_tables = row["source"].startswith("AWS Neuron docs") and "inference performance" in row["source"]
    older = of_tables and stack_of(row) == "transformers-neuronx" and not re.search(r"llama-?3", row["model"].lower())
    if not older:
        return ""
    return "transformers-neuronx-2.19" if "Inf2" in row["source"] else "transformers-neuronx-2.18.0"


# ---- the model

# Words of a model's name, and the family that they tell: `model_type` of config.json. The longest one decides.
FAMILY_WORDS = {
    "bert": "bert", "roberta": "roberta", "distilbert": "distilbert", "electra": "electra", "albert": "albert",
    "llama": "llama", "vicuna": "llama", "mistral": "mistral", "qwen": "qwen2", "qwen3": "qwen3", "gemma": "gemma",
    "granite": "granite", "phi-3": "phi3", "phi3": "phi3", "phi-4": "phi3", "mixtral": "mixtral", "olmo2": "olmo2",
    "olmo-2": "olmo2", "qwen3-30b-a3b": "qwen3_moe", "qwen3-235b-a22b": "qwen3_moe", "qwen3-moe": "qwen3_moe",
    "gpt": "gpt2", "neox": "gpt_neox", "pythia": "gpt_neox", "gpt-j": "gpt2", "codegen": "gpt2", "opt-": "opt",
    "bloom": "gpt2", "vit": "vit", "vision transformer": "vit", "deit": "vit"}
# They look like a family and cannot be computed as one.
FAMILY_WORDS |= dict.fromkeys(["deberta", "t5", "mobilevit", "levit", "maxvit", "convit", "crossvit", "vivit", "vitdet",
                               "vit-mae", "swin", "clip", "perceiver"], "")
GPTJ = {"gpt-j", "codegen"}  # config.json of EleutherAI/gpt-j-6b: no dropout, a head of its own
DIFFERS = dict.fromkeys(GPTJ, "as a GPT: attention before the MLP, learned positions") | {
    "bloom": "as a GPT: learned positions", "deit": "as a ViT: no token of distillation"}
TIED = ["qwen3-0.6b", "qwen3-1.7b", "qwen3-4b"]  # their config.json: tie_word_embeddings
ENCODERS = {"bert", "roberta", "distilbert", "electra", "albert", "vit"}
# Blocks that are not those of BlockSpec (LayerNorm and a GELU MLP).
OTHER_BLOCKS = ["swiglu", "silu", "rmsnorm", "rotary", "rope"]


def family_word(name):
    words = [word for word in FAMILY_WORDS if word in name.lower()]
    return max(words, key=len, default="")


def sizes_of(name):
    """Of a model that its config.json describes, under the names of the columns; a mixture is like a preset."""
    plain = re.sub(r"[-_ ]", "", name)
    known = [one for one in SIZES if re.sub(r"[-_ ]", "", one) in plain]
    if not known:
        return {}
    family, *sizes = SIZES[max(known, key=len)][:7]
    return {"like": family} | dict(zip(KEYS, sizes))


def about(row):
    return (row["model"] + " " + row["notes"]).lower()


def model_columns(row):
    name = row["model"].lower()
    if " block" in name:
        return {"like": "blocks",
                "block": next((word for word in OTHER_BLOCKS if word in about(row)), ""),
                "causal": "no" if "full attention" in about(row) or "non-causal" in about(row) else ""}
    word = family_word(name)
    if not row["hidden"] and (sizes := sizes_of(name)):
        return sizes | {"assumed": "sizes of its config.json"}
    out = {"like": FAMILY_WORDS.get(word, ""), "assumed": DIFFERS.get(word, "")}
    if word in GPTJ:
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
    """Sizes of picture and patch: missing ones follow from the other and from the length, or are the usual ones."""
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
    out, said = {"like": "vit"}, []
    preset = preset or name == "vit-mnist"
    if not image and not preset:
        said.append(f"pictures of {usual[0]} pixels")
    if not patch and not preset:
        said.append(f"patches of {usual[1]} pixels")
    image, patch = image or usual[0], patch or usual[1]
    if not preset:
        letter = search(r"(?:vit|deit)[-_ ](ti|[tsblh])(?![a-z])", name)
        named = [size for size in VIT_SIZES if size in name or letter in (size[:1], size[:2])]
        sizes = VIT_SIZES[named[0]] if named else None
        if sizes:
            out |= zip(("hidden", "layers", "heads", "ffn"), sizes)
        else:  # a private one
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
    said += [differs] if differs else []
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
    """Columns of a training job: the measured part, its length, its head."""
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


def at_once(row):
    """Batches that an inference works on at a time, by Little's law: batches in a second times seconds of a batch."""
    latency = search(r"latency of one batch (?:on one core )?([0-9.]+) ms", row["notes"])
    rate = row["metric"].lower() in ("inferences/s", "samples/s", "sequences/s", "images/s")
    if not latency or not rate or not row["micro_batch"].isdigit():
        return ""
    return max(1, round(float(row["value"]) * float(latency) / 1e3 / int(row["micro_batch"])))


def inference_columns(row):
    """A checkpoint that was never trained to classify runs with the head that it has: AWS's example for XLM-R takes
    AutoModelForMaskedLM."""
    masked = "xlm-roberta" in row["model"].lower() or "masked" in about(row)
    said = {"assumed": "the head is that of masked words"} if masked else {}
    return {"at_once": at_once(row), "head": "masked" if masked else ""} | said


def job_columns(row):
    out = model_columns(row)
    if row["kind"] == "train" and out["like"] == "blocks":
        out["release"] = release_of(row)
    elif row["kind"] == "train":
        out |= training_columns(row, out["like"] in ENCODERS or out["like"] == "vit-mnist")
    elif row["kind"] == "generate":
        out |= {"prompt_tokens": search(r"input\s+(\d+)", row["notes"]),
                "new_tokens": search(r"output\s+(\d+)", row["notes"]),
                "prompt_bucket": search(r"bucket\s+(\d+)", row["notes"]),
                "release": generation_release_of(row)}
        out["draft"] = search(r"draft (?:model )?([\w.-]+\w)", row["notes"])
        # The commands of NxD Inference's tutorials for Trn2 have --sequence-parallel-enabled.
        if "nxd-inference/tutorials" in row["source"] and row["instance"].startswith("trn2"):
            out |= {"seq_parallel": "yes", "assumed": "prompts split by tokens, as the tutorial's command says"}
    elif row["kind"] == "infer" and out["like"] in ENCODERS:
        columns = inference_columns(row)
        out |= columns | {"assumed": "; ".join(part for part in (out["assumed"], columns.get("assumed")) if part)}
    if "not published" in row["notes"] or "not stated" in row["notes"]:
        out["untold"] = "yes"
    return out
