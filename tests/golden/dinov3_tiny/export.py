#!/usr/bin/env python3
"""Writes a golden trajectory anew: transformers' DINOv3ViTModel (modeling_dinov3_vit.py) under the linear classifier of
its publisher (dinov3/hub/classifiers.py), by ../vit_tiny/export.py's data and training, with places as they are.

Usage: python3 export.py FOLDER
"""
import importlib.util
import math
import pathlib

import torch
from torch.nn import functional

path = pathlib.Path(__file__).resolve().parent.parent / "vit_tiny" / "export.py"
spec = importlib.util.spec_from_file_location("vit_export", path)
vit = importlib.util.module_from_spec(spec)
spec.loader.exec_module(vit)

KEPT = ("hidden_size", "id2label", "image_size", "initializer_range", "intermediate_size", "label2id",
        "num_attention_heads", "num_channels", "num_hidden_layers", "patch_size")
CONFIG = {**{key: vit.CONFIG[key] for key in KEPT}, "architectures": ["DINOv3ViTModel"], "attention_dropout": 0.0,
          "drop_path_rate": 0.0, "hidden_act": "gelu", "key_bias": False, "layer_norm_eps": 1e-5, "layerscale_value": 1.0,
          "mlp_bias": True, "model_type": "dinov3_vit", "num_register_tokens": 3, "pos_embed_jitter": None,
          "pos_embed_rescale": None, "pos_embed_shift": None, "proj_bias": True, "query_bias": True, "rope_theta": 100.0,
          "use_gated_mlp": False, "value_bias": True}
vit.CONFIG = CONFIG
# With seed 1 a weight's first gradient is 5e-10, rounding alone, which AdamW makes a step of.
vit.SEED = 2
MODEL = "dinov3_vit."
REGISTERS = CONFIG["num_register_tokens"]
vit.SPECIALS = ["cls_token"] + REGISTERS * ["register_tokens"]  # tokens() counts them


def first_weights():
    def weight(*shape):
        return torch.nn.init.trunc_normal_(torch.empty(*shape), std=CONFIG["initializer_range"])

    w = {MODEL + "embeddings.cls_token": weight(1, 1, vit.H),
         MODEL + "embeddings.register_tokens": weight(1, REGISTERS, vit.H)}

    def affine(name, *shape, bias=True):
        w[name + ".weight"] = weight(*shape)
        if bias:
            w[name + ".bias"] = vit.BIAS_NOISE * torch.randn(shape[0])

    def norm(name):
        w[name + ".weight"] = 1 + vit.GAIN_NOISE * torch.randn(vit.H)
        w[name + ".bias"] = vit.BIAS_NOISE * torch.randn(vit.H)

    affine(MODEL + "embeddings.patch_embeddings", vit.H, vit.CHANNELS, vit.PATCH, vit.PATCH)
    for i in range(CONFIG["num_hidden_layers"]):
        layer = f"{MODEL}layer.{i}."
        norm(layer + "norm1")
        for name, bias in (("q", "query_bias"), ("k", "key_bias"), ("v", "value_bias"), ("o", "proj_bias")):
            affine(f"{layer}attention.{name}_proj", vit.H, vit.H, bias=CONFIG[bias])
        norm(layer + "norm2")
        for name in ("gate", "up") if CONFIG["use_gated_mlp"] else ("up",):
            affine(f"{layer}mlp.{name}_proj", vit.FFN, vit.H)
        affine(layer + "mlp.down_proj", vit.H, vit.FFN)
        for part in (1, 2):
            w[f"{layer}layer_scale{part}.lambda1"] = 1 + vit.GAIN_NOISE * torch.randn(vit.H)
    norm(MODEL + "norm")
    affine("classifier", vit.LABELS, 2 * vit.H)
    return w


def angles(side):
    """DINOv3ViTRopePositionEmbedding without augmentation: [patches, elements of a head]."""
    head = vit.H // vit.HEADS
    frequencies = 1 / CONFIG["rope_theta"] ** torch.arange(0, 1, 4 / head, dtype=torch.float32)
    places = 2 * torch.arange(0.5, side, dtype=torch.float32) / side - 1
    places = torch.stack(torch.meshgrid(places, places, indexing="ij"), dim=-1).flatten(0, 1)
    return (2 * math.pi * places[:, :, None] * frequencies[None, None, :]).flatten(1, 2).tile(2)


def rotated(x, turns):
    """Of patches alone. x: [batch, heads, tokens, head]."""
    still, turned = x[:, :, :1 + REGISTERS], x[:, :, 1 + REGISTERS:]
    first, second = turned.chunk(2, -1)
    cos, sin = turns.cos().to(x.dtype), turns.sin().to(x.dtype)
    turned = turned * cos + torch.cat((-second, first), -1) * sin
    return torch.cat((still, turned), 2)


def forward(w, pixels):
    def linear(x, name):
        return functional.linear(x, w[name + ".weight"], w.get(name + ".bias"))

    def norm(x, name):
        return functional.layer_norm(x, (vit.H,), w[name + ".weight"], w[name + ".bias"], CONFIG["layer_norm_eps"])

    act = {"gelu": functional.gelu, "silu": functional.silu}[CONFIG["hidden_act"]]

    def mlp(x, layer):
        up = linear(x, layer + "mlp.up_proj")
        y = act(linear(x, layer + "mlp.gate_proj")) * up if CONFIG["use_gated_mlp"] else act(up)
        return linear(y, layer + "mlp.down_proj")

    patches = MODEL + "embeddings.patch_embeddings"
    x = functional.conv2d(pixels, w[patches + ".weight"], w[patches + ".bias"], stride=vit.PATCH).flatten(2).transpose(1, 2)
    specials = [w[MODEL + f"embeddings.{name}"].expand(len(x), -1, -1) for name in ("cls_token", "register_tokens")]
    x = torch.cat([*specials, x], 1)
    turns = angles(vit.IMAGE // vit.PATCH)
    for i in range(CONFIG["num_hidden_layers"]):
        layer = f"{MODEL}layer.{i}."
        y = norm(x, layer + "norm1")
        q, k, v = (linear(y, f"{layer}attention.{name}_proj").view(len(y), x.shape[1], vit.HEADS, -1).transpose(1, 2)
                   for name in "qkv")
        scores = rotated(q, turns) @ rotated(k, turns).transpose(2, 3) * (vit.H // vit.HEADS) ** -0.5
        context = (scores.softmax(-1) @ v).transpose(1, 2).reshape(len(y), x.shape[1], vit.H)
        x = linear(context, layer + "attention.o_proj") * w[layer + "layer_scale1.lambda1"] + x
        x = mlp(norm(x, layer + "norm2"), layer) * w[layer + "layer_scale2.lambda1"] + x
    x = norm(x, MODEL + "norm")
    return linear(torch.cat([x[:, 0], x[:, 1 + REGISTERS:].mean(1)], 1), "classifier")


vit.first_weights, vit.forward = first_weights, forward

if __name__ == "__main__":
    vit.main()
