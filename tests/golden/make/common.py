"""What the makers of golden trajectories share: safetensors, first weights, training, the files of a folder.

Weights are drawn in fp32, everything after that is computed in double precision on one thread, so that the files are
the same on every run. Everything is written here by hand after transformers' modeling files, which are not needed."""
import json
import pathlib
import struct

import torch

STEPS, RATE, DECAY = 6, 1e-3, 0.01


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


def train(folder, config, weights, data, loss_of):
    """loss_of(weights, step's tensors) -> logits, loss, and perhaps what is added to it but not told."""
    folder = pathlib.Path(folder)
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "config.json").write_text(json.dumps(config, indent=1) + "\n")
    write_safetensors(folder / "model.safetensors", weights)
    write_safetensors(folder / "batches.safetensors", data)
    weights = {name: tensor.detach().double().requires_grad_() for name, tensor in weights.items()}
    optimizer = torch.optim.AdamW(weights.values(), lr=RATE, betas=(0.9, 0.999), eps=1e-8, weight_decay=DECAY)
    expected, losses = {}, []
    for step in range(STEPS):
        for group in optimizer.param_groups:
            group["lr"] = RATE * (STEPS - step) / STEPS
        batch = {name.split(".", 1)[1]: t for name, t in data.items() if name.startswith(f"step{step}.")}
        logits, loss, *more = loss_of(weights, batch)
        optimizer.zero_grad()
        (loss + sum(more)).backward()
        losses.append(round(loss.item(), 12))
        if step == 0:
            expected["step0.logits"] = logits
            expected.update({"step0.grad." + name: tensor.grad.clone() for name, tensor in weights.items()})
        optimizer.step()
    expected.update({"final." + name: tensor for name, tensor in weights.items()})
    write_safetensors(folder / "expected.safetensors", expected)
    batch, length = data["step0.input_ids"].shape
    (folder / "expected.json").write_text(json.dumps({
        "loss_per_step": losses, "steps": STEPS, "batch": batch, "seq": length, "lr": RATE,
        "schedule": "linear to 0, no warm-up",
        "optimizer": f"AdamW betas 0.9 0.999 eps 1e-8 weight_decay {DECAY} on all",
        "dropout": 0.0, "dtype": "float64 from float32"}, indent=1) + "\n")
