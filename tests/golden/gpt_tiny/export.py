#!/usr/bin/env python3
"""Writes this folder anew: a tiny GPT-2, trained for six steps by PyTorch alone (1.13; no transformers).

Weights begin as fp32 and are trained in fp64: a key's bias has no gradient, and AdamW would make steps of rounding.

Usage: python3 export.py [FOLDER]
"""
import json
import math
import pathlib
import sys

import torch

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / "make"))
from common import write_safetensors

STEPS, BATCH, SEQ, RATE, DECAY = 6, 4, 24, 1e-3, 0.01
CONFIG = {
    "activation_function": "gelu_new",
    "architectures": ["GPT2LMHeadModel"],
    "attn_pdrop": 0.0,
    "bos_token_id": 63,
    "embd_pdrop": 0.0,
    "eos_token_id": 63,
    "initializer_range": 0.1,
    "layer_norm_epsilon": 1e-5,
    "model_type": "gpt2",
    "n_embd": 32,
    "n_head": 4,
    "n_layer": 2,
    "n_positions": 40,
    "resid_pdrop": 0.0,
    "tie_word_embeddings": True,
    "vocab_size": 64,
}
H, HEADS, LAYERS = CONFIG["n_embd"], CONFIG["n_head"], CONFIG["n_layer"]


def first_weights():
    """Biases and gains are not 0 and 1, as in a model that has learnt: a mistake in them must be seen."""
    def normal(*shape):
        return torch.randn(*shape) * CONFIG["initializer_range"]

    w = {"wte.weight": normal(CONFIG["vocab_size"], H), "wpe.weight": normal(CONFIG["n_positions"], H)}
    ffn = CONFIG.get("n_inner") or 4 * H
    for i in range(LAYERS):
        for name, n_in, n_out in (("attn.c_attn", H, 3 * H), ("attn.c_proj", H, H),
                                  ("mlp.c_fc", H, ffn), ("mlp.c_proj", ffn, H)):
            w[f"h.{i}.{name}.weight"], w[f"h.{i}.{name}.bias"] = normal(n_in, n_out), normal(n_out)
        for name in ("ln_1", "ln_2"):
            w[f"h.{i}.{name}.weight"], w[f"h.{i}.{name}.bias"] = 1 + normal(H), normal(H)
    w["ln_f.weight"], w["ln_f.bias"] = 1 + normal(H), normal(H)
    w = {"transformer." + name: tensor for name, tensor in w.items()}
    if not CONFIG["tie_word_embeddings"]:
        w["lm_head.weight"] = normal(CONFIG["vocab_size"], H)
    return {name: tensor.requires_grad_() for name, tensor in w.items()}


def forward(w, ids):
    def get(name):
        return w["transformer." + name]

    def conv1d(x, name):
        return x @ get(name + ".weight") + get(name + ".bias")

    def norm(x, name):
        return torch.nn.functional.layer_norm(x, (H,), get(name + ".weight"), get(name + ".bias"),
                                              CONFIG["layer_norm_epsilon"])

    def act(x):
        if CONFIG["activation_function"] == "gelu":
            return torch.nn.functional.gelu(x)
        return 0.5 * x * (1 + torch.tanh(math.sqrt(2 / math.pi) * (x + 0.044715 * x ** 3)))

    batch, length = ids.shape
    future = torch.ones(length, length, dtype=torch.bool).triu(1)
    x = get("wte.weight")[ids] + get("wpe.weight")[:length]
    for i in range(LAYERS):
        q, k, v = (t.view(batch, length, HEADS, H // HEADS).transpose(1, 2)
                   for t in conv1d(norm(x, f"h.{i}.ln_1"), f"h.{i}.attn.c_attn").split(H, dim=2))
        scores = (q @ k.transpose(2, 3) / math.sqrt(H // HEADS)).masked_fill(future, float("-inf"))
        context = (scores.softmax(-1) @ v).transpose(1, 2).reshape(batch, length, H)
        x = x + conv1d(context, f"h.{i}.attn.c_proj")
        x = x + conv1d(act(conv1d(norm(x, f"h.{i}.ln_2"), f"h.{i}.mlp.c_fc")), f"h.{i}.mlp.c_proj")
    return norm(x, "ln_f") @ w.get("lm_head.weight", get("wte.weight")).T


def batches():
    """Text that can be learnt: counting in steps of its own. A mask takes a different part of each row out of the loss."""
    out = {}
    for step in range(STEPS):
        start, stride = torch.randint(0, 64, (BATCH, 1)), torch.randint(1, 4, (BATCH, 1))
        ids = (start + stride * torch.arange(SEQ)) % 64
        labels = ids.clone()
        for row in range(BATCH):
            labels[row, :3 * row] = -100
        out[f"step{step}.input_ids"], out[f"step{step}.labels"] = ids, labels
    return out


def train(weights, data, dtype):
    """The losses, and the content of expected.safetensors."""
    weights = {name: tensor.detach().to(dtype, copy=True).requires_grad_() for name, tensor in weights.items()}
    optimizer = torch.optim.AdamW(weights.values(), lr=RATE, betas=(0.9, 0.999), eps=1e-8, weight_decay=DECAY)
    expected, losses = {}, []
    for step in range(STEPS):
        for group in optimizer.param_groups:
            group["lr"] = RATE * (STEPS - step) / STEPS
        ids, labels = data[f"step{step}.input_ids"], data[f"step{step}.labels"]
        logits = forward(weights, ids)
        loss = torch.nn.functional.cross_entropy(logits[:, :-1].reshape(-1, 64), labels[:, 1:].reshape(-1))
        optimizer.zero_grad()
        loss.backward()
        losses.append(loss.item())
        if step == 0:
            expected["step0.logits"] = logits
            expected.update({"step0.grad." + name: tensor.grad.clone() for name, tensor in weights.items()})
        optimizer.step()
    return losses, expected | {"final." + name: tensor for name, tensor in weights.items()}


def main():
    folder = pathlib.Path(sys.argv[1] if len(sys.argv) > 1 else pathlib.Path(__file__).parent)
    torch.manual_seed(1)
    weights, data = first_weights(), batches()
    (folder / "config.json").write_text(json.dumps(CONFIG, indent=1) + "\n")
    write_safetensors(folder / "model.safetensors", weights)
    write_safetensors(folder / "batches.safetensors", data)
    losses, expected = train(weights, data, torch.float64)
    write_safetensors(folder / "expected.safetensors", expected)
    (folder / "expected.json").write_text(json.dumps({
        "loss_per_step": losses, "loss_per_step_bf16": train(weights, data, torch.bfloat16)[0],
        "steps": STEPS, "batch": BATCH, "seq": SEQ, "lr": RATE,
        "schedule": "linear to 0, no warm-up",
        "optimizer": f"AdamW betas 0.9 0.999 eps 1e-8 weight_decay {DECAY} on all",
        "dropout": 0.0, "dtype": "float64 from float32", "torch": torch.__version__}, indent=1) + "\n")


if __name__ == "__main__":
    main()
