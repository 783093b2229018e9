#!/usr/bin/env python3
"""Writes a golden trajectory anew: transformers' Dinov2ForImageClassification, by ../vit_tiny/export.py's data and training.

Usage: python3 export.py FOLDER
"""
import importlib.util
import pathlib

import torch
from torch.nn import functional

path = pathlib.Path(__file__).resolve().parent.parent / "vit_tiny" / "export.py"
spec = importlib.util.spec_from_file_location("vit_export", path)
vit = importlib.util.module_from_spec(spec)
spec.loader.exec_module(vit)

vit.CONFIG = {**{key: value for key, value in vit.CONFIG.items() if key not in ("encoder_stride", "intermediate_size")},
              "architectures": ["Dinov2ForImageClassification"], "model_type": "dinov2", "mlp_ratio": 2,
              "layerscale_value": 1.0, "drop_path_rate": 0.0, "use_swiglu_ffn": False, "layer_norm_eps": 1e-6}
MODEL, REGISTERS = "dinov2.", 0  # dinov2_with_registers_tiny/export.py has others


def inner():
    """The size of an MLP."""
    size = int(vit.H * vit.CONFIG["mlp_ratio"])
    return (int(size * 2 / 3) + 7) // 8 * 8 if vit.CONFIG["use_swiglu_ffn"] else size


def first_weights():
    def weight(*shape):
        return torch.nn.init.trunc_normal_(torch.empty(*shape), std=vit.CONFIG["initializer_range"])

    w = {MODEL + "embeddings.cls_token": weight(1, 1, vit.H),
         MODEL + "embeddings.position_embeddings": weight(1, vit.tokens(), vit.H)}
    if REGISTERS:
        w[MODEL + "embeddings.register_tokens"] = weight(1, REGISTERS, vit.H)

    def affine(name, *shape):
        w[name + ".weight"], w[name + ".bias"] = weight(*shape), vit.BIAS_NOISE * torch.randn(shape[0])

    def norm(name):
        w[name + ".weight"] = 1 + vit.GAIN_NOISE * torch.randn(vit.H)
        w[name + ".bias"] = vit.BIAS_NOISE * torch.randn(vit.H)

    affine(MODEL + "embeddings.patch_embeddings.projection", vit.H, vit.CHANNELS, vit.PATCH, vit.PATCH)
    for i in range(vit.CONFIG["num_hidden_layers"]):
        layer = f"{MODEL}encoder.layer.{i}."
        norm(layer + "norm1")
        for name in ("query", "key", "value"):
            affine(layer + "attention.attention." + name, vit.H, vit.H)
        affine(layer + "attention.output.dense", vit.H, vit.H)
        norm(layer + "norm2")
        if vit.CONFIG["use_swiglu_ffn"]:
            affine(layer + "mlp.weights_in", 2 * inner(), vit.H)
            affine(layer + "mlp.weights_out", vit.H, inner())
        else:
            affine(layer + "mlp.fc1", inner(), vit.H)
            affine(layer + "mlp.fc2", vit.H, inner())
        for part in (1, 2):
            w[f"{layer}layer_scale{part}.lambda1"] = 1 + vit.GAIN_NOISE * torch.randn(vit.H)
    norm(MODEL + "layernorm")
    affine("classifier", vit.LABELS, 2 * vit.H)
    return w


def forward(w, pixels):
    def linear(x, name):
        return functional.linear(x, w[name + ".weight"], w[name + ".bias"])

    def norm(x, name):
        return functional.layer_norm(x, (vit.H,), w[name + ".weight"], w[name + ".bias"], vit.CONFIG["layer_norm_eps"])

    def mlp(x, layer):
        if vit.CONFIG["use_swiglu_ffn"]:
            gate, up = linear(x, layer + "mlp.weights_in").chunk(2, -1)
            return linear(functional.silu(gate) * up, layer + "mlp.weights_out")
        y = linear(x, layer + "mlp.fc1")
        y = functional.gelu(y, approximate="none" if vit.CONFIG["hidden_act"] == "gelu" else "tanh")
        return linear(y, layer + "mlp.fc2")

    patches = MODEL + "embeddings.patch_embeddings.projection"
    x = functional.conv2d(pixels, w[patches + ".weight"], w[patches + ".bias"], stride=vit.PATCH).flatten(2).transpose(1, 2)
    x = torch.cat([w[MODEL + "embeddings.cls_token"].expand(len(x), -1, -1), x], 1)
    x = x + w[MODEL + "embeddings.position_embeddings"]
    if REGISTERS:
        registers = w[MODEL + "embeddings.register_tokens"].expand(len(x), -1, -1)
        x = torch.cat([x[:, :1], registers, x[:, 1:]], 1)
    for i in range(vit.CONFIG["num_hidden_layers"]):
        layer = f"{MODEL}encoder.layer.{i}."
        y = norm(x, layer + "norm1")
        q, k, v = (linear(y, layer + "attention.attention." + name).view(len(y), x.shape[1], vit.HEADS, -1)
                   .transpose(1, 2) for name in ("query", "key", "value"))
        scores = q @ k.transpose(2, 3) * (vit.H // vit.HEADS) ** -0.5
        context = (scores.softmax(-1) @ v).transpose(1, 2).reshape(len(y), x.shape[1], vit.H)
        x = linear(context, layer + "attention.output.dense") * w[layer + "layer_scale1.lambda1"] + x
        x = mlp(norm(x, layer + "norm2"), layer) * w[layer + "layer_scale2.lambda1"] + x
    x = norm(x, MODEL + "layernorm")
    return linear(torch.cat([x[:, 0], x[:, 1 + REGISTERS:].mean(1)], 1), "classifier")


vit.first_weights, vit.forward = first_weights, forward

if __name__ == "__main__":
    vit.main()
