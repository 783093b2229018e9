"""Kernels and the like, and graphs that are compiled."""

import re

from sizes import ENCODERS, SIZES, sizes_text
from words import search

BYTES = {"fp32": 4, "int32": 4, "fp16": 2, "bf16": 2, "int8": 1, "fp8": 1}


def shape_sizes(shape):
    """Sizes from "10944x2048" alone."""
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
    if not count:
        return ""
    # Only the forward of blocks with a GELU MLP is modelled: another setting skips the row.
    other = ("" if "forward" in what else " training") + ("" if "GELU" in row["shape"].split() else " mlp=other")
    return f"blocks layers={count}{other}" + flags(what, "causal")


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
FILLERS = set("a an and batch batched by compiled dense element elementwise forward from function fused framework hbm "
              "in kernel naive nki of on one optimized over row rows the then to with".split())
NAMES = [(r"rms[\s_-]*norm(alization)?", "rmsnorm"), (r"layer[\s_-]*norm(alization)?", "layernorm"),
         (r"mat(rix)?[\s_-]*mul(tiply|tiplication)?", "matmul "), (r"batchmatmul|batch_matmul", "matmul "),
         (r"gelu[\s_-]*tanh", "gelutanh"), (r"residual[\s_-]*add|add[\s_-]*residual", "add")]


def chain(what):
    """The steps of "matmul, then add and RMSNorm"; nothing when a word is not a step."""
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


# ---- kernels in Python scripts: the script, the function, what it is called with

SCRIPTS = {  # of one author's operators, by their names: one input's shape each, with the table's type
    "adamw": ["{shape}"] * 4, "silu": ["128x{tiles}x{columns}"],
    "matmul": ["{m_tiles}x128x{k_tiles}x128", "{k_tiles}x128x{n}"]}


def sizes_of(row):
    """The shape's sizes by the names that inputs are written with."""
    named = {key.lower(): int(size) for key, size in re.findall(r"\b([A-Z]+)(\d+)\b", row["shape"])}
    plain = shape_sizes(row["shape"])
    out = named | {key + "_tiles": size // 128 for key, size in named.items()} | {"shape": row["shape"]}
    return out | {"tiles": plain[0] // 128, "columns": plain[1]} if len(plain) == 2 else out


def called_with(row, inputs):
    try:
        text = ",".join(shape if shape == "+" else f"{shape.format(**sizes_of(row))}:{row['dtype']}"
                        for shape in inputs)
        return text.replace(",+,", "+")
    except KeyError:
        return ""


def script(row):
    """"nki script=... function=... inputs=...", for kernels whose script is known."""
    what = row["what"]
    if found := re.search(r"workspaces/(\w+)/runs/(\w+\.py)", what):
        path, function, inputs = f"trn2/kda/{found[1]}/{found[2]}", "kernel", SCRIPTS.get(found[1])
    elif found := re.search(r"NKIBench (\w+) .*?(\w+?)(?:_0)?\.py", what):
        path, function, inputs = f"kernels/nkibench/{found[2]}.py", "kernel", SCRIPTS.get(found[1])
    elif found := re.search(r"one head, (baseline|fused)", what):
        path, function = f"trn2/fused/{found[1]}/attention.py", f"{found[1]}_attention"
        inputs = ["{d}x{s}"] * 3
    elif "GEMM + GELU, baseline" in what:
        path, function = "trn2/fused/baseline/mlp_gemm.py", "gemm_kernel+gelu_kernel"
        inputs = ["{k}x{m}", "{k}x{n}", "1x{n}", "+", "{m}x{n}"]
    elif found := re.search(r"tiled matmul, (naive|hoist), tile M 128 K (\d+) N (\d+)", what):
        path, function = "validation/kernels/tiled_matmul.py", f"{found[1]}_k{found[2]}_n{found[3]}"
        inputs = ["{k}x{m}", "{k}x{n}"]
    else:
        return ""
    called = inputs and called_with(row, inputs)
    return f"nki script={path} function={function} inputs={called}{timer(row)}" if called else ""


# Scripts that print full_results["latency"] of nki.benchmark, which is neuron-bench's and has the host's part (says its
# documentation); others print nc_latency, of the NeuronCore alone, or read a profile.
WHOLE_LATENCY = ["trainium-agent-labs projects/02-kernel-agent"]


def timer(row):
    return " timer=neuron-bench" if any(one in row["source"] for one in WHOLE_LATENCY) else ""


def kernel(row, what):
    if nki := script(row):
        return nki
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


# Quantities of a profile: all of the words are in the text, and the first match wins. The last member: which
# columns stream through the engine, "one" number or "two".
QUESTIONS = [
    (("software dge", "duration"), "indexed-descriptor", ""), (("dge", "issue"), "descriptor-generation", ""),
    (("dma_direct2d", "issue"), "descriptor-generation", ""), (("dge", "duration"), "descriptor", ""),
    (("descriptor", "duration"), "descriptor", ""), (("issue to first descriptor",), "issue-to-descriptor", "one"),
    (("activate", "to store"), "activate-to-store", "one"),
    (("matmul end", "activate start"), "matmul-to-activate", "one"),
    (("ldweights start", "matmul start"), "load-to-matmul", "one"), (("ldweights", "duration"), "load", ""),
    (("matmul", "start to start"), "matmul-interval", "one"), (("matmul", "issue to issue"), "matmul-interval", "one"),
    (("matmul", "pass", "duration"), "matmul-pass", "one"), (("matmul", "duration"), "matmul-latency", "one"), (("act_table_load",), "table-load", ""),
    (("copy on scalare", "duration"), "activate", "one"), (("on vectore", "duration"), "vector", "one"),
    (("activate", "per element"), "activate-per-element", "two"), (("activate", "fixed part"), "activate-fixed", "two"),
    (("activate", "issue to issue"), "activate", "one"), (("activate", "start to start"), "activate", "one"),
    (("activate", "duration"), "activate", "one"), (("tensor_load",), "tensor-load", ""),
    (("tensor_store",), "tensor-store", ""), (("semaphore", "clear"), "semaphore-clear", ""), (("semaphore_range_clear",), "semaphore-clear", ""),
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


VECTOR = {"copy": "tensor_copy", "tensor_reduce": "tensor_reduce", "tensor_scalar": "tensor_scalar",
          "reciprocal": "reciprocal", "tensor_tensor": "tensor_tensor"}


def vector_words(what):
    name = next((op for word, op in VECTOR.items() if what.startswith(word)), "")
    return (f" op={name}" if name else " op=unknown") + (" psum" if "psum" in what else "")


def instruction(row, what):
    for words, name, how in QUESTIONS:
        if all(word in what for word in words):
            from_sbuf = " sbuf" if name.startswith(("activate", "table")) and re.search(r"sbuf(?: fp\d+)? ->", what) else ""
            of_vector = vector_words(what) if name == "vector" else ""
            computes = " function" if name == "activate" and "activate, " in what else ""
            return name + columns_streamed(row, what, how) + from_sbuf + of_vector + computes
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

PRESETS = """\
albert-base albert-large albert-xlarge bert-base-uncased bert-base-cased bert-large-uncased bert-small bert-base
bert-large distilbert-base-uncased electra-small electra-base electra-large gemma-2b gemma-7b gpt-small gpt2
gpt2-medium gpt2-large gpt2-xl gpt3-6.7b gpt3-13b gpt3-23b gpt3-46b gpt3-175b pythia-70m pythia-160m pythia-410m
pythia-1b pythia-1.4b pythia-2.8b pythia-6.9b pythia-12b gpt-neox-20b granite-3.0-2b granite-3.0-8b llama2-7b
llama2-13b llama2-70b llama3-8b llama3-70b llama3.1-8b llama3.1-70b llama3.1-405b llama3.2-1b llama3.2-3b llama-small
mistral-7b mistral-7b-v0.3 mixtral-8x7b mixtral-8x22b mixtral-small olmo2-1b olmo2-7b olmo2-13b opt-125m opt-1.3b
opt-2.7b opt-6.7b opt-13b opt-30b opt-66b phi3-mini phi3-medium phi-4 phi3.5-mini qwen2-0.5b qwen2-1.5b qwen2-7b
qwen2.5-14b qwen2.5-72b qwen3-0.6b qwen3-1.7b qwen3-4b qwen3-8b qwen3-14b qwen3-32b qwen3-30b-a3b qwen3-235b-a22b
roberta-base roberta-large t5-small t5-base t5-large t5-v1_1-small t5-v1_1-base t5-v1_1-large t5-v1_1-xl t5-tiny
vit-base-patch16-224 vit-base-patch32-224 vit-base-patch16-384 vit-large-patch16-224 vit-huge-patch14-224
vit-small-patch16-224 vit-tiny-patch16-224 vit-mnist""".split()


def plain(text):
    return re.sub(r"[-_ ]", "", text.lower())


def inference_graph(what):
    """Of a library that writes text: the sizes of the model that the text names, or the preset."""
    known = [name for name in SIZES if plain(name) in plain(what)]
    presets = [name for name in PRESETS if plain(name) in plain(what)]
    name = max(known + presets, key=lambda one: len(plain(one)), default="")
    if not name:
        return ""
    batch = search(r"batch (\d+)", what)
    graph = sizes_text(SIZES[name]) if name in SIZES else name
    return f"{graph} inference" + (f" batch={batch}" if batch else "")


def graph_columns(row):
    """For the table of compile times: the preset with the longest name that the text has, at any size that it gives."""
    what = row["what"].lower()
    if "inference" in what:
        return {"graph": inference_graph(what)}
    encoder = next((name for name in ENCODERS if name in what), "")
    if encoder:
        return {"graph": f"bert-base layers={ENCODERS[encoder]} training"}
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
    tokens = model != "vit-mnist" and ("ner" in what or "token" in what)
    return {"graph": model + (f" layers={layers}" if layers else "") + training + trainer +
            (" lora" if "lora" in what else "") + (" head=tokens" if tokens else "")}
