#!/usr/bin/env python3
"""Writes a golden trajectory anew: transformers' OpenAIGPTLMHeadModel, by ../gpt_tiny/export.py's data and training. Its
norms are of the sums, and the last one of a layer is the input of the head.

Usage: python3 export.py FOLDER
"""
import importlib.util
import math
import pathlib

import torch
from torch.nn import functional

path = pathlib.Path(__file__).resolve().parent.parent / "gpt_tiny" / "export.py"
spec = importlib.util.spec_from_file_location("gpt_export", path)
gpt = importlib.util.module_from_spec(spec)
spec.loader.exec_module(gpt)

for key in ("activation_function", "bos_token_id", "eos_token_id"):
    del gpt.CONFIG[key]
gpt.CONFIG.update(afn="gelu", architectures=["OpenAIGPTLMHeadModel"], model_type="openai-gpt")
WORDS = {"wte": "tokens_embed", "wpe": "positions_embed"}
weights_of_second = gpt.first_weights


def first_weights():
    w = {name: tensor for name, tensor in weights_of_second().items() if ".ln_f." not in name}
    for second, first in WORDS.items():
        w[f"transformer.{first}.weight"] = w.pop(f"transformer.{second}.weight")
    return w


def forward(w, ids):
    def get(name):
        return w["transformer." + name]

    def conv1d(x, name):
        return x @ get(name + ".weight") + get(name + ".bias")

    def norm(x, name):
        return functional.layer_norm(x, (gpt.H,), get(name + ".weight"), get(name + ".bias"),
                                     gpt.CONFIG["layer_norm_epsilon"])

    batch, length = ids.shape
    future = torch.ones(length, length, dtype=torch.bool).triu(1)
    x = get("tokens_embed.weight")[ids] + get("positions_embed.weight")[:length]
    for i in range(gpt.LAYERS):
        q, k, v = (t.view(batch, length, gpt.HEADS, -1).transpose(1, 2)
                   for t in conv1d(x, f"h.{i}.attn.c_attn").split(gpt.H, dim=2))
        scores = (q @ k.transpose(2, 3) / math.sqrt(gpt.H // gpt.HEADS)).masked_fill(future, float("-inf"))
        context = (scores.softmax(-1) @ v).transpose(1, 2).reshape(batch, length, gpt.H)
        x = norm(x + conv1d(context, f"h.{i}.attn.c_proj"), f"h.{i}.ln_1")
        y = functional.gelu(conv1d(x, f"h.{i}.mlp.c_fc"), approximate="tanh")
        x = norm(x + conv1d(y, f"h.{i}.mlp.c_proj"), f"h.{i}.ln_2")
    return x @ get("tokens_embed.weight").T


gpt.first_weights, gpt.forward = first_weights, forward

if __name__ == "__main__":
    gpt.main()
