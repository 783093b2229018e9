#!/usr/bin/env python3
"""Writes a golden trajectory anew: transformers' SiglipForImageClassification, by ../vit_tiny/export.py's data and training.

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

VISION = {"attention_dropout": 0.0, "hidden_act": "gelu_pytorch_tanh", "hidden_size": vit.H, "image_size": vit.IMAGE,
          "initializer_range": 0.02, "intermediate_size": vit.FFN, "layer_norm_eps": 1e-6,
          "model_type": "siglip_vision_model", "num_attention_heads": vit.HEADS, "num_channels": vit.CHANNELS,
          "num_hidden_layers": 2, "patch_size": vit.PATCH}
vit.CONFIG = {"architectures": ["SiglipForImageClassification"], "id2label": vit.CONFIG["id2label"],
              "label2id": vit.CONFIG["label2id"], "model_type": "siglip", "vision_config": VISION}
vit.SPECIALS = []
PREFIX = "vision_model."


def first_weights():
    def weight(*shape):
        return torch.nn.init.trunc_normal_(torch.empty(*shape), std=VISION["initializer_range"])

    w = {PREFIX + "embeddings.position_embedding.weight": weight(vit.tokens(), vit.H)}

    def affine(name, *shape):
        w[name + ".weight"], w[name + ".bias"] = weight(*shape), vit.BIAS_NOISE * torch.randn(shape[0])

    def norm(name):
        w[name + ".weight"] = 1 + vit.GAIN_NOISE * torch.randn(vit.H)
        w[name + ".bias"] = vit.BIAS_NOISE * torch.randn(vit.H)

    affine(PREFIX + "embeddings.patch_embedding", vit.H, vit.CHANNELS, vit.PATCH, vit.PATCH)
    for i in range(VISION["num_hidden_layers"]):
        layer = f"{PREFIX}encoder.layers.{i}."
        norm(layer + "layer_norm1")
        for name in "qkv":
            affine(f"{layer}self_attn.{name}_proj", vit.H, vit.H)
        affine(layer + "self_attn.out_proj", vit.H, vit.H)
        norm(layer + "layer_norm2")
        affine(layer + "mlp.fc1", vit.FFN, vit.H)
        affine(layer + "mlp.fc2", vit.H, vit.FFN)
    norm(PREFIX + "post_layernorm")
    affine("classifier", vit.LABELS, vit.H)
    return w


def forward(w, pixels):
    def linear(x, name):
        return functional.linear(x, w[name + ".weight"], w[name + ".bias"])

    def norm(x, name):
        return functional.layer_norm(x, (vit.H,), w[name + ".weight"], w[name + ".bias"], VISION["layer_norm_eps"])

    patches = PREFIX + "embeddings.patch_embedding"
    x = functional.conv2d(pixels, w[patches + ".weight"], w[patches + ".bias"], stride=vit.PATCH)
    x = x.flatten(2).transpose(1, 2) + w[PREFIX + "embeddings.position_embedding.weight"]
    for i in range(VISION["num_hidden_layers"]):
        layer = f"{PREFIX}encoder.layers.{i}."
        y = norm(x, layer + "layer_norm1")
        q, k, v = (linear(y, f"{layer}self_attn.{name}_proj").view(len(y), vit.tokens(), vit.HEADS, -1).transpose(1, 2)
                   for name in "qkv")
        scores = q @ k.transpose(2, 3) * (vit.H // vit.HEADS) ** -0.5
        context = (scores.softmax(-1) @ v).transpose(1, 2).reshape(len(y), vit.tokens(), vit.H)
        x = linear(context, layer + "self_attn.out_proj") + x
        y = linear(norm(x, layer + "layer_norm2"), layer + "mlp.fc1")
        x = linear(functional.gelu(y, approximate="tanh"), layer + "mlp.fc2") + x
    return linear(norm(x, PREFIX + "post_layernorm").mean(1), "classifier")


vit.first_weights, vit.forward = first_weights, forward

if __name__ == "__main__":
    vit.main()
