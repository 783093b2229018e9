#!/usr/bin/env python3
"""Writes a golden trajectory anew: a tiny Vision Transformer, trained for ten steps by PyTorch alone (1.13).

The model is transformers' ViTForImageClassification (no pooler, dropout 0), with its tensor names.

Usage: python3 export.py FOLDER
"""
import json
import pathlib
import sys

import torch
from torch.nn import functional

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / "make"))
from common import write_safetensors

SEED, STEPS, BATCH, RATE, DECAY = 1, 10, 6, 1e-3, 0.01
GAIN_NOISE, BIAS_NOISE = 0.1, 0.02
DTYPE = "float32"
LABELS = 5
CONFIG = {
    "architectures": ["ViTForImageClassification"],
    "attention_probs_dropout_prob": 0.0,
    "encoder_stride": 16,
    "hidden_act": "gelu",
    "hidden_dropout_prob": 0.0,
    "hidden_size": 32,
    "id2label": {str(i): f"LABEL_{i}" for i in range(LABELS)},
    "image_size": 16,
    "initializer_range": 0.02,
    "intermediate_size": 64,
    "label2id": {f"LABEL_{i}": i for i in range(LABELS)},
    "layer_norm_eps": 1e-12,
    "model_type": "vit",
    "num_attention_heads": 4,
    "num_channels": 3,
    "num_hidden_layers": 2,
    "patch_size": 4,
    "qkv_bias": True,
}
H, FFN, HEADS = CONFIG["hidden_size"], CONFIG["intermediate_size"], CONFIG["num_attention_heads"]
IMAGE, PATCH, CHANNELS = CONFIG["image_size"], CONFIG["patch_size"], CONFIG["num_channels"]
MODEL, SPECIALS, CLASSIFIERS = "vit", ["cls_token"], ["classifier"]  # deit_tiny/export.py has others


def tokens():
    return len(SPECIALS) + (IMAGE // PATCH) ** 2


def first_weights():
    """Biases and gains are not 0 and 1, as in a model that has learnt: a mistake in them must be seen."""
    def weight(*shape):
        return torch.nn.init.trunc_normal_(torch.empty(*shape), std=CONFIG["initializer_range"])

    w = {f"{MODEL}.embeddings.{name}": weight(1, 1, H) for name in SPECIALS}
    w[f"{MODEL}.embeddings.position_embeddings"] = weight(1, tokens(), H)

    def affine(name, *shape):
        w[name + ".weight"], w[name + ".bias"] = weight(*shape), BIAS_NOISE * torch.randn(shape[0])

    def norm(name):
        w[name + ".weight"], w[name + ".bias"] = 1 + GAIN_NOISE * torch.randn(H), BIAS_NOISE * torch.randn(H)

    affine(f"{MODEL}.embeddings.patch_embeddings.projection", H, CHANNELS, PATCH, PATCH)
    for i in range(CONFIG["num_hidden_layers"]):
        layer = f"{MODEL}.encoder.layer.{i}."
        norm(layer + "layernorm_before")
        for name in ("query", "key", "value"):
            affine(layer + "attention.attention." + name, H, H)
        affine(layer + "attention.output.dense", H, H)
        norm(layer + "layernorm_after")
        affine(layer + "intermediate.dense", FFN, H)
        affine(layer + "output.dense", H, FFN)
    norm(MODEL + ".layernorm")
    for name in CLASSIFIERS:
        affine(name, LABELS, H)
    return w


def forward(w, pixels):
    def linear(x, name):
        return functional.linear(x, w[name + ".weight"], w[name + ".bias"])

    def norm(x, name):
        return functional.layer_norm(x, (H,), w[name + ".weight"], w[name + ".bias"], CONFIG["layer_norm_eps"])

    patches = f"{MODEL}.embeddings.patch_embeddings.projection"
    x = functional.conv2d(pixels, w[patches + ".weight"], w[patches + ".bias"], stride=PATCH).flatten(2).transpose(1, 2)
    x = torch.cat([w[f"{MODEL}.embeddings.{name}"].expand(len(x), -1, -1) for name in SPECIALS] + [x], 1)
    x = x + w[f"{MODEL}.embeddings.position_embeddings"]
    for i in range(CONFIG["num_hidden_layers"]):
        layer = f"{MODEL}.encoder.layer.{i}."
        y = norm(x, layer + "layernorm_before")
        q, k, v = (linear(y, layer + "attention.attention." + name).view(len(y), tokens(), HEADS, -1).transpose(1, 2)
                   for name in ("query", "key", "value"))
        scores = q @ k.transpose(2, 3) * (H // HEADS) ** -0.5
        context = (scores.softmax(-1) @ v).transpose(1, 2).reshape(len(y), tokens(), H)
        x = linear(context, layer + "attention.output.dense") + x
        y = linear(norm(x, layer + "layernorm_after"), layer + "intermediate.dense")
        y = functional.gelu(y, approximate="none" if CONFIG["hidden_act"] == "gelu" else "tanh")
        x = linear(y, layer + "output.dense") + x
    x = norm(x, MODEL + ".layernorm")
    return sum(linear(read(x, i), name) for i, name in enumerate(CLASSIFIERS)) / len(CLASSIFIERS)


def read(x, place):
    """The part of the tokens that a head reads."""
    return x[:, place]


def batches():
    """Noise over a texture of the class, the same in each patch: so that attention near its mean can learn it."""
    repeats = IMAGE // PATCH
    pictures, out = torch.randn(LABELS, CHANNELS, PATCH, PATCH).repeat(1, 1, repeats, repeats), {}
    for step in range(STEPS):
        labels = torch.randint(0, LABELS, (BATCH,))
        out[f"step{step}.labels"] = labels
        out[f"step{step}.pixel_values"] = pictures[labels] + torch.randn(BATCH, CHANNELS, IMAGE, IMAGE)
    return out


def train(weights, data):
    """The losses, and the content of expected.safetensors."""
    dtype = getattr(torch, DTYPE)
    weights = {name: tensor.to(dtype, copy=True).requires_grad_() for name, tensor in weights.items()}
    optimizer = torch.optim.AdamW(weights.values(), lr=RATE, betas=(0.9, 0.999), eps=1e-8, weight_decay=DECAY)
    expected, losses = {}, []
    for step in range(STEPS):
        for group in optimizer.param_groups:
            group["lr"] = RATE * (STEPS - step) / STEPS
        logits = forward(weights, data[f"step{step}.pixel_values"].to(dtype))
        loss = functional.cross_entropy(logits, data[f"step{step}.labels"])
        optimizer.zero_grad()
        loss.backward()
        losses.append(loss.item())
        if step == 0:
            expected["step0.logits"] = logits.detach()
            expected.update({"step0.grad." + name: tensor.grad.clone() for name, tensor in weights.items()})
        optimizer.step()
    expected.update({"final." + name: tensor.detach() for name, tensor in weights.items()})
    return losses, expected


def prepare():
    torch.set_num_threads(1)
    torch.use_deterministic_algorithms(True)
    torch.manual_seed(SEED)
    return first_weights(), batches()


def main():
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    folder = pathlib.Path(sys.argv[1])
    folder.mkdir(parents=True, exist_ok=True)
    weights, data = prepare()
    losses, expected = train(weights, data)
    (folder / "config.json").write_text(json.dumps(CONFIG, indent=1) + "\n")
    write_safetensors(folder / "model.safetensors", weights)
    write_safetensors(folder / "batches.safetensors", data)
    write_safetensors(folder / "expected.safetensors", expected)
    (folder / "expected.json").write_text(json.dumps({
        "loss_per_step": losses, "steps": STEPS, "batch": BATCH, "seq": tokens(), "lr": RATE,
        "schedule": "linear to 0, no warm-up",
        "optimizer": f"AdamW betas 0.9 0.999 eps 1e-8 weight_decay {DECAY} on all",
        "dropout": 0.0, "dtype": DTYPE, "torch": torch.__version__}, indent=1) + "\n")


if __name__ == "__main__":
    main()
