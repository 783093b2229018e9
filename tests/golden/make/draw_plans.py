"""Draws the plan of a training: cores, micro-batches, format, machine, passes. Nothing of it may change the training."""
MIXTURES = ("mixtral", "qwen3_moe", "qwen3_moe_step", "qwen3_moe_listed", "olmoe", "granitemoe", "granitemoeshared",
            "qwen2_moe", "flex_olmo", "deepseek", "deepseek_v2",
            "deepseek_v2_groups", "deepseek_v3", "kimi_k2", "minimax_m2", "bailing_moe", "bailing_moe_v2", "glm4_moe", "dots1", "ernie4_5_moe", "gpt_oss", "dbrx", "llama4_text")
CORES = 8
FORMATS = ["bf16", "bf16+sr", "fp32+bf16-matmul", "bf16+fp32-optimizer", "fp32+fp16-matmul", "tf32", "fp16", "fp16+sr",
           "fp32+sr", "tf32+sr", "bf16+fp32-softmax", "fp32+bf16-all", "fp32+fp16-all", "fp32+bf16-matmul+sr"]
PASSES = ["-cse", "-narrow", "-bias_gradient", "-dual_operations", "-fusion", "-reorder", "-merge_blocks",
          "-double_buffering", "+flash_attention"]
ONE_CORE = ["trn1.2xlarge", "trn2.3xlarge", "inf2.xlarge"]
MORE_CORES = ["trn1.32xlarge", "trn1.32xlarge", "trn1n.32xlarge", "trn2.48xlarge", "inf2.48xlarge"]
SIZES = ("intermediate_size", "moe_intermediate_size", "ffn_dim", "n_inner", "d_ff", "vocab_size")  # that ranks share


def data_parallel(family, sizes, flags, draw):
    """Cores of data parallelism, and micro-batches."""
    tensor = flags.get("--tensor_parallel_size", 1) * flags.get("--pipeline_parallel_size", 1)
    # The router's loss is of the tokens that a rank sees at once: of parts of a batch it is another.
    rows = 1 if family in MIXTURES else sizes["BATCH"]
    data = draw.choice([n for n in (1, 2, 4) if rows % n == 0 and n * tensor <= CORES])
    left = rows // data
    return data, draw.choice([n for n in range(1, left + 1) if left % n == 0])


def divided(changes, sizes, tensor, draw):
    """Mostly sizes that the ranks can share; else the plan is refused."""
    if draw.random() < 0.1:
        return
    for key in SIZES:
        if changes.get(key):
            changes[key] = -(-changes[key] // tensor) * tensor
    if "VOCAB" in sizes:
        sizes["VOCAB"] = changes["vocab_size"]


def split_layers(kind, family, shape, draw):
    """Tensor and pipeline parallelism, of models with a token behind the other."""
    changes, sizes, shared = shape
    lengths = [sizes[name] for name in ("SEQ", "READ", "WRITTEN") if name in sizes]
    tensor = draw.choice([n for n in (1, 2, 4, 8) if all(size % n == 0 for size in (shared, *lengths))])
    divided(changes, sizes, tensor, draw)
    layers = changes.get("num_hidden_layers", changes.get("n_layer", 2))
    stages = draw.choice([n for n in (1, 2, 4) if layers % n == 0 and n * tensor <= CORES])
    if kind == "t5" and stages > 1:
        stages, changes["num_decoder_layers"] = 2, changes["num_layers"]
    flags = {"--tensor_parallel_size": tensor, "--pipeline_parallel_size": stages}
    if stages > 1 and layers % (2 * stages) == 0 and draw.random() < 0.5:
        flags["--virtual_pipeline_size"] = 2
    if kind == "bart":
        changes["encoder_ffn_dim"] = changes["decoder_ffn_dim"] = -(-changes["encoder_ffn_dim"] // tensor) * tensor
        if stages > 1:
            stages = flags["--pipeline_parallel_size"] = 2
            changes["decoder_layers"] = changes["encoder_layers"]
    if tensor > 1 and family not in MIXTURES and (kind == "bart" or draw.random() < 0.2):
        flags["--disable_sequence_parallel"] = "true"
    return flags


def share_heads(shape, draw):
    """Tensor parallelism of encoders: ranks that do not divide the vocabulary each hold all of it."""
    changes, sizes, heads = shape
    tensor = draw.choice([n for n in (1, 2, 4, 8) if heads % n == 0])
    if draw.random() < 0.9:  # else the plan may be refused
        for key in ("intermediate_size", "hidden_dim"):
            if changes.get(key):
                changes[key] = -(-changes[key] // tensor) * tensor
                if "FFN" in sizes:
                    sizes["FFN"] = changes[key]
    return {"--tensor_parallel_size": tensor}


def a_machine(flags, cores, draw):
    """A chip, what the compiler leaves out, and how it is simulated."""
    if cores > 1:
        flags |= {"--nproc_per_node": cores, "--instance_type": draw.choice(MORE_CORES)}
    elif draw.random() < 0.3:
        flags["--instance_type"] = draw.choice(ONE_CORE)
    if draw.random() < 0.4:
        flags["--passes"] = ",".join(draw.sample(PASSES, draw.randint(1, 4)))
    if draw.random() < 0.15:
        flags["--mode"] = "full"
        if draw.random() < 0.3:
            flags["--exact"] = "true"
    if draw.random() < 0.2:  # smaller memory, other tiles
        flags["--set"] = "sbuf.partition=" + draw.choice(["8KiB", "16KiB", "24KiB", "48KiB"])
    if draw.random() < 0.2:
        flags["--host_threads"] = draw.randint(2, 3)


def a_plan(kind, family, shape, draw):
    """Flags, some of which the model may refuse. `shape`: (changes, sizes, heads that ranks share)."""
    encodes = kind in ("encoder", "encoder relative", "vit")
    flags = share_heads(shape, draw) if encodes else split_layers(kind, family, shape, draw)
    if draw.random() < 0.3:
        flags["--recompute"] = draw.choice(["selective", "full"])
    data, again = data_parallel(family, shape[1], flags, draw)
    if data > 1 and draw.random() < 0.5:
        flags["--zero_1"] = "true"
    flags["--gradient_accumulation_steps"] = again
    cores = data * flags.get("--tensor_parallel_size", 1) * flags.get("--pipeline_parallel_size", 1)
    a_machine(flags, cores, draw)
    if draw.random() < 0.2:
        flags["--numerics"] = draw.choice(FORMATS)
        if flags["--numerics"].startswith("bf16") and draw.random() < 0.3:
            flags["--optimizer_use_master_weights"] = "true"
    return {flag: value for flag, value in flags.items() if value != 1}


def without(flags, flag):
    """The plan without one of its flags, on as many cores as it takes then."""
    parts = ("--tensor_parallel_size", "--pipeline_parallel_size")
    split = [flags.get(part, 1) for part in parts]
    out = {name: value for name, value in flags.items() if name != flag}
    if flag in parts and "--nproc_per_node" in flags:
        out["--nproc_per_node"] = flags["--nproc_per_node"] // split[parts.index(flag)]
        if flag == parts[1]:
            out.pop("--virtual_pipeline_size", None)
    return out
