"""Shared by the makers of golden trajectories: safetensors, first weights, training, the files of a folder.

Weights are drawn in fp32, everything after that is computed in double precision on one thread, so that the files are
the same on every run. Everything is written here by hand after transformers' modeling files, which are not needed."""
import json
import math
import pathlib
import struct

import torch

STEPS, RATE = 6, 1e-3
PLAIN = {"betas": (0.9, 0.999), "eps": 1e-8, "decay": 0.01, "decay_all": True, "schedule": "linear", "warmup": 0,
         "max_grad_norm": 0, "smoothing": 0}
# Every setting otherwise than the default.
OTHER = {"betas": (0.8, 0.95), "eps": 1e-6, "decay": 0.1, "decay_all": False, "schedule": "cosine", "warmup": 2,
         "max_grad_norm": 0.5, "smoothing": 0.1}


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
    if step < recipe["warmup"]:
        return RATE * step / recipe["warmup"]
    left = (STEPS - step) / (STEPS - recipe["warmup"])
    return RATE * (left if recipe["schedule"] == "linear" else 0.5 * (1 + math.cos(math.pi * (1 - left))))


def steps_of(weights, data, loss_of, recipe, each=None):
    """Trains in the type of the weights; returns the losses."""
    decayed = [t for t in weights.values() if recipe["decay_all"] or len(t.shape) > 1]
    spared = [t for t in weights.values() if not recipe["decay_all"] and len(t.shape) == 1]
    groups = [{"params": decayed, "weight_decay": recipe["decay"]}, {"params": spared, "weight_decay": 0.0}]
    optimizer = torch.optim.AdamW([g for g in groups if g["params"]], lr=RATE, betas=recipe["betas"],
                                  eps=recipe["eps"])
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


def train(folder, config, weights, data, loss_of, recipe=PLAIN):
    """loss_of(weights, step's tensors) -> logits, loss, and perhaps what is added to it but not told."""
    folder = pathlib.Path(folder)
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "config.json").write_text(json.dumps(config, indent=1) + "\n")
    write_safetensors(folder / "model.safetensors", weights)
    write_safetensors(folder / "batches.safetensors", data)
    def copies(dtype):
        return {name: tensor.detach().to(dtype).requires_grad_() for name, tensor in weights.items()}

    exact, expected = copies(torch.float64), {}

    def first(logits):
        expected["step0.logits"] = logits
        expected.update({"step0.grad." + name: tensor.grad.clone() for name, tensor in exact.items()})

    losses = steps_of(exact, data, loss_of, recipe, first)
    bf16 = steps_of(copies(torch.bfloat16), data, loss_of, recipe)
    expected.update({"final." + name: tensor for name, tensor in exact.items()})
    write_safetensors(folder / "expected.safetensors", expected)
    batch, length = data["step0.input_ids"].shape
    beta1, beta2 = recipe["betas"]
    text = {
        "loss_per_step": losses, "loss_per_step_bf16": bf16, "steps": STEPS, "batch": batch, "seq": length, "lr": RATE,
        "schedule": f"{recipe['schedule']} to 0, " +
                    (f"warm-up of {recipe['warmup']} steps" if recipe["warmup"] else "no warm-up"),
        "optimizer": f"AdamW betas {beta1} {beta2} eps {recipe['eps']:g} weight_decay {recipe['decay']} on all" +
                     ("" if recipe["decay_all"] else " but biases and norms"),
        "dropout": 0.0, "dtype": "float64 from float32"}
    if recipe["max_grad_norm"] > 0:
        text["max_grad_norm"] = recipe["max_grad_norm"]
    if recipe["smoothing"] > 0:
        text["label_smoothing"] = recipe["smoothing"]
    (folder / "expected.json").write_text(json.dumps(text, indent=1) + "\n")
