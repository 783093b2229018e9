"""Shared by the makers of golden trajectories: safetensors, first weights, training, the files of a folder.

Weights are drawn in fp32, everything after that is computed in double precision on one thread, so that the files are
the same on every run. Everything is written here by hand after transformers' modeling files, which are not needed."""
import json
import math
import os
import pathlib
import struct

import torch

# PyTorch 1.13's oneDNN ends with an illegal instruction where a virtual machine shows AMX and does not grant it.
os.environ.setdefault("DNNL_MAX_CPU_ISA", "AVX512_CORE_BF16")
STEPS, RATE = 6, 1e-3
PLAIN = {"optimizer": "AdamW", "rate": RATE, "betas": (0.9, 0.999), "eps": 1e-8, "momentum": 0, "decay": 0.01,
         "decay_all": True, "schedule": "linear", "warmup": 0, "max_grad_norm": 0, "smoothing": 0,
         "bf16": True, "fp32": 0}  # trained in bf16 too; how often in the type of the numbers, to see its rounding
# Every setting otherwise than the default.
OTHER = {**PLAIN, "betas": (0.8, 0.95), "eps": 1e-6, "decay": 0.1, "decay_all": False, "schedule": "cosine",
         "warmup": 2, "max_grad_norm": 0.5, "smoothing": 0.1}
PEFT = "base_model.model."


def write_safetensors(path, tensors):
    header, data = {}, b""
    for name, tensor in sorted(tensors.items()):
        tensor = tensor.detach().contiguous()
        if tensor.dtype == torch.float64:
            tensor = tensor.float()
        raw = tensor.numpy().tobytes()
        header[name] = {"dtype": {torch.float32: "F32", torch.int64: "I64"}[tensor.dtype],
                        "shape": list(tensor.shape), "data_offsets": [len(data), len(data) + len(raw)]}
        data += raw
    text = json.dumps(header).encode()
    text += b" " * (-len(text) % 8)
    path.write_bytes(struct.pack("<Q", len(text)) + text + data)


def draw(shapes, deviation=0.1):
    """Biases and gains are not 0 and 1, as in a model that has learnt: a mistake in them must be seen."""
    weights = {}
    for name, shape in shapes.items():
        values = torch.randn(*shape) * deviation
        gain = len(shape) == 1 and ("norm" in name.lower()) and name.endswith("weight")
        weights[name] = 1 + values if gain else values
    return weights


def rate_of(step, recipe):
    """transformers, optimization.py."""
    rate = recipe["rate"]
    if step < recipe["warmup"]:
        return rate * step / recipe["warmup"]
    left = (STEPS - step) / (STEPS - recipe["warmup"])
    return {"linear": rate * left, "cosine": rate * 0.5 * (1 + math.cos(math.pi * (1 - left))),
            "constant": rate}[recipe["schedule"]]


def is_spared(name):
    """transformers, trainer.py, get_decay_parameter_names(): parameters of norms, and those with "bias" in their name.
    Every norm of the families here has one of these words in its name behind the model's ("roberta_prelayernorm"), and
    nothing else has, but for DBRX's attention beside its norms."""
    inner = name.partition(".")[2].replace("norm_attn_norm.", "") if name.count(".") > 1 else name
    return "bias" in name or any(word in "." + inner.lower() for word in ("norm", ".ln_", ".ln.", "_ln."))


class Lamb(torch.optim.Optimizer):
    """You et al., arXiv:1904.00962, algorithm 2, phi the identity: one ratio for each parameter."""

    def __init__(self, groups, lr, betas, eps):
        super().__init__(groups, {"lr": lr, "betas": betas, "eps": eps, "weight_decay": 0.0})

    @torch.no_grad()
    def step(self, closure=None):
        for group in self.param_groups:
            for p in (p for p in group["params"] if p.grad is not None):
                state, (beta1, beta2) = self.state[p], group["betas"]
                if not state:
                    state.update(t=0, m=torch.zeros_like(p), v=torch.zeros_like(p))
                state["t"] += 1
                state["m"].mul_(beta1).add_(p.grad, alpha=1 - beta1)
                state["v"].mul_(beta2).addcmul_(p.grad, p.grad, value=1 - beta2)
                root = (state["v"] / (1 - beta2 ** state["t"])).sqrt()
                u = state["m"] / (1 - beta1 ** state["t"]) / (root + group["eps"]) + group["weight_decay"] * p
                w_norm, u_norm = p.norm(), u.norm()
                ratio = w_norm / u_norm if w_norm > 0 and u_norm > 0 else 1.0
                p.sub_(group["lr"] * ratio * u)


def optimizer_of(weights, recipe):
    decayed = [t for n, t in weights.items() if recipe["decay_all"] or not is_spared(n)]
    spared = [t for n, t in weights.items() if not recipe["decay_all"] and is_spared(n)]
    groups = [{"params": decayed, "weight_decay": recipe["decay"]}, {"params": spared, "weight_decay": 0.0}]
    groups = [g for g in groups if g["params"]]
    if recipe["optimizer"] == "SGD":
        return torch.optim.SGD(groups, lr=recipe["rate"], momentum=recipe["momentum"])
    kind = {"AdamW": torch.optim.AdamW, "LAMB": Lamb}[recipe["optimizer"]]
    return kind(groups, lr=recipe["rate"], betas=recipe["betas"], eps=recipe["eps"])


def steps_of(weights, data, loss_of, recipe, each=None):
    """Trains in the type of the weights; returns the losses."""
    optimizer = optimizer_of(weights, recipe)
    losses = []
    for step in range(STEPS):
        for group in optimizer.param_groups:
            group["lr"] = rate_of(step, recipe)
        batch = {name.split(".", 1)[1]: t for name, t in data.items() if name.startswith(f"step{step}.")}
        logits, loss, *more = loss_of(weights, batch)
        optimizer.zero_grad()
        (loss + sum(more)).backward()
        losses.append(round(loss.item(), 12))
        if step == 0 and each:
            each(logits)
        if recipe["max_grad_norm"] > 0:
            torch.nn.utils.clip_grad_norm_(weights.values(), recipe["max_grad_norm"])
        optimizer.step()
    return losses


def optimizer_text(recipe):
    factors = f"betas {recipe['betas'][0]} {recipe['betas'][1]} eps {recipe['eps']:g}"
    if recipe["optimizer"] == "SGD":
        factors = f"momentum {recipe['momentum']}"
    spared = "" if recipe["decay_all"] else " but biases and norms"
    return f"{recipe['optimizer']} {factors} weight_decay {recipe['decay']} on all{spared}"


def settings_of(recipe):
    schedule = recipe["schedule"] + ("" if recipe["schedule"] == "constant" else " to 0")
    text = {"lr": recipe["rate"],
            "schedule": f"{schedule}, " + (f"warm-up of {recipe['warmup']} steps" if recipe["warmup"] else "no warm-up"),
            "optimizer": optimizer_text(recipe), "dropout": 0.0, "dtype": "float64 from float32"}
    if recipe["max_grad_norm"] > 0:
        text["max_grad_norm"] = recipe["max_grad_norm"]
    if recipe["smoothing"] > 0:
        text["label_smoothing"] = recipe["smoothing"]
    return text


def with_adapters(base, factors, adapter):
    """PEFT's layers: the product of two factors beside a frozen weight [out, in], or GPT-2's [in, out]."""
    out, scale = dict(base), adapter["config"]["lora_alpha"] / adapter["config"]["r"]
    for name in (n.removesuffix(".lora_A.weight") for n in factors if n.endswith(".lora_A.weight")):
        low = factors[name + ".lora_B.weight"] @ factors[name + ".lora_A.weight"]
        out[name + ".weight"] = base[name + ".weight"] + scale * (low.T if adapter.get("conv1d") else low)
    return out


def frozen_under(adapter, weights, loss_of):
    """The tensors that are trained, and their loss; `adapter`: {"config", "factors"}, or nothing."""
    if not adapter:
        return weights, loss_of
    whole = set(adapter["config"].get("modules_to_save") or [])
    trained = adapter["factors"] | {name: t for name, t in weights.items() if whole & set(name.split("."))}

    def loss_under(trained, batch):
        kind = next(iter(trained.values())).dtype
        base = {n: t.to(kind) for n, t in weights.items()} | {n: t for n, t in trained.items() if n in weights}
        return loss_of(with_adapters(base, trained, adapter), batch)

    return trained, loss_under


def write_model(folder, config, weights, adapter):
    (folder / "config.json").write_text(json.dumps(config, indent=1) + "\n")
    write_safetensors(folder / "model.safetensors", weights)
    if adapter:
        (folder / "adapter_config.json").write_text(json.dumps(adapter["config"], indent=1) + "\n")
        write_safetensors(folder / "adapter_model.safetensors",
                          {PEFT + name: tensor for name, tensor in frozen_under(adapter, weights, None)[0].items()})


def train(folder, config, weights, data, loss_of, recipe=PLAIN, adapter=None):
    """loss_of(weights, step's tensors) -> logits, loss, and perhaps what is added to it but not told."""
    folder = pathlib.Path(folder)
    folder.mkdir(parents=True, exist_ok=True)
    write_model(folder, config, weights, adapter)
    write_safetensors(folder / "batches.safetensors", data)
    trained, loss_of = frozen_under(adapter, weights, loss_of)

    def run(dtype, tensors=trained):
        """The losses, and the content of expected.safetensors."""
        copies = {name: tensor.detach().to(dtype, copy=True).requires_grad_() for name, tensor in tensors.items()}
        expected = {}

        def first(logits):
            expected["step0.logits"] = logits
            expected.update({"step0.grad." + name: tensor.grad.clone() for name, tensor in copies.items()
                             if tensor.grad is not None})

        losses = steps_of(copies, data, loss_of, recipe, first)
        expected.update({"final." + name: tensor for name, tensor in copies.items()})
        return losses, {name: tensor.detach() for name, tensor in expected.items()}

    losses, expected = run(torch.float64)
    write_safetensors(folder / "expected.safetensors", expected)
    labels = data["step0.labels"]
    bf16 = {"loss_per_step_bf16": run(torch.bfloat16)[0]} if recipe["bf16"] else {}
    text = {"loss_per_step": losses, **bf16, "steps": STEPS, "batch": labels.shape[0],
            "seq": data["step0.input_ids" if "step0.input_ids" in data else "step0.labels"].shape[-1],
            **settings_of(recipe)}
    (folder / "expected.json").write_text(json.dumps(text, indent=1) + "\n")
    if recipe["fp32"]:
        spread = rounding(run, trained, torch.bfloat16 if recipe["bf16"] else torch.float32, recipe["fp32"])
        (folder / "rounding.json").write_text(json.dumps(spread) + "\n")


def rounding(run, tensors, dtype, count):
    """How far trainings in a type are from the exact ones, at most. One training is one draw of its rounding, so `count`
    are made, from weights whose numbers are moved to a neighbour or not; the exact ones begin at the same weights."""
    generator, worst = torch.Generator().manual_seed(count), {}
    for _ in range(count):
        moved = {name: neighbours(tensor, dtype, generator) for name, tensor in tensors.items()}
        for what, far in distances(run(torch.float64, moved), run(dtype, moved)).items():
            worst[what] = max(worst.get(what, 0), far)
    return worst


def neighbours(tensor, dtype, generator):
    """Each number in a type, or the one below or above it."""
    exact = tensor.detach().to(dtype).double()
    unit = torch.finfo(dtype).eps * 2.0 ** torch.floor(torch.log2(exact.abs().clamp_min(1e-30)))
    return exact + unit * (torch.randint(0, 3, exact.shape, generator=generator) - 1)


SMALLEST = 1e-4  # workloads/training/verify.h, kSmallest


def pieces(name, tensor):
    """GPT-2's query, key and value are compared by themselves."""
    return tensor.chunk(3, -1) if "c_attn" in name and "lora" not in name else (tensor,)


def distances(exact, other):
    """How far a trajectory is from the exact one: the measures of `trnsim verify`."""
    out = {"loss": max(abs(b - a) / max(abs(a), 1e-6) for a, b in zip(exact[0], other[0]))}
    sizes = {}
    for kind, prefix in (("logits", "step0.logits"), ("gradients", "step0.grad."), ("final weights", "final.")):
        rows = [(name, a.double(), b.double()) for name in exact[1] if name.startswith(prefix)
                for a, b in zip(pieces(name, exact[1][name]), pieces(name, other[1][name]))]
        largest = max(a.norm().item() for _, a, _ in rows)
        if kind == "gradients":
            sizes = {f"final.{n.removeprefix(prefix)} {i}": a.norm().item() / max(largest, 1e-30)
                     for i, (n, a, _) in enumerate(rows)}
        worst = 0.0
        for i, (name, a, b) in enumerate(rows):
            least = 1 if sizes.get(f"{name} {i}", 1) < SMALLEST ** 2 else SMALLEST
            worst = max(worst, ((a - b).norm() / max(a.norm().item(), least * largest, 1e-30)).item())
        out[kind] = worst
    return out
