#!/usr/bin/env python3
"""Writes this folder anew: LoRA on a tiny frozen Llama, trained for six steps by PyTorch alone (1.13; no transformers).

Grouped queries; targets of every kind (split by outputs, by inputs, and key-value heads), and some layers without.
adapter_config.json and adapter_model.safetensors are as PEFT writes them. Trained in fp64 from fp32.

Usage: python3 export.py [FOLDER]
"""
import json
import math
import pathlib
import sys

import torch

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / "make"))
from common import write_safetensors

STEPS, BATCH, SEQ, RATE, DECAY = 6, 4, 24, 1e-2, 0.01
CONFIG = {
    "architectures": ["LlamaForCausalLM"],
    "bos_token_id": 1,
    "eos_token_id": 2,
    "hidden_act": "silu",
    "hidden_size": 32,
    "initializer_range": 0.1,
    "intermediate_size": 48,
    "max_position_embeddings": 40,
    "model_type": "llama",
    "num_attention_heads": 4,
    "num_hidden_layers": 2,
    "num_key_value_heads": 2,
    "rms_norm_eps": 1e-5,
    "rope_theta": 10000.0,
    "tie_word_embeddings": False,
    "vocab_size": 64,
}
ADAPTER = {
    "base_model_name_or_path": ".",
    "bias": "none",
    "lora_alpha": 6,
    "lora_dropout": 0.0,
    "peft_type": "LORA",
    "r": 3,
    "target_modules": ["q_proj", "v_proj", "o_proj", "gate_proj", "down_proj"],
    "task_type": "CAUSAL_LM",
}
H, HEADS, KV, LAYERS = (CONFIG[k] for k in ("hidden_size", "num_attention_heads", "num_key_value_heads",
                                            "num_hidden_layers"))
HEAD = H // HEADS
PEFT = "base_model.model."


def first_weights():
    """Neither gains nor B are 1 and 0, as after some training: a mistake in them must be seen."""
    def normal(*shape):
        return torch.randn(*shape) * CONFIG["initializer_range"]

    ffn = CONFIG["intermediate_size"]
    base, factors = {}, {}
    base["model.embed_tokens.weight"] = normal(CONFIG["vocab_size"], H)
    for i in range(LAYERS):
        for name, n_out, n_in in (("self_attn.q_proj", H, H), ("self_attn.k_proj", KV * HEAD, H),
                                  ("self_attn.v_proj", KV * HEAD, H), ("self_attn.o_proj", H, H),
                                  ("mlp.gate_proj", ffn, H), ("mlp.up_proj", ffn, H), ("mlp.down_proj", H, ffn)):
            name = f"model.layers.{i}.{name}"
            base[name + ".weight"] = normal(n_out, n_in)
            if name.split(".")[-1] in ADAPTER["target_modules"]:
                factors[name + ".lora_A.weight"] = normal(ADAPTER["r"], n_in)
                factors[name + ".lora_B.weight"] = normal(n_out, ADAPTER["r"])
        for name in ("input_layernorm", "post_attention_layernorm"):
            base[f"model.layers.{i}.{name}.weight"] = 1 + normal(H)
    base["model.norm.weight"] = 1 + normal(H)
    base["lm_head.weight"] = normal(CONFIG["vocab_size"], H)
    return base, factors


def forward(w, ids):
    def linear(x, name):
        y = x @ w[name + ".weight"].T
        if name + ".lora_A.weight" not in w:
            return y
        low = x @ w[name + ".lora_A.weight"].T @ w[name + ".lora_B.weight"].T
        return y + ADAPTER["lora_alpha"] / ADAPTER["r"] * low

    def norm(x, name):
        return x * torch.rsqrt((x * x).mean(-1, keepdim=True) + CONFIG["rms_norm_eps"]) * w[name + ".weight"]

    batch, length = ids.shape
    frequency = CONFIG["rope_theta"] ** (-torch.arange(0, HEAD, 2, dtype=torch.float64) / HEAD)
    angle = torch.arange(length, dtype=torch.float64)[:, None] * frequency
    cos, sin = (torch.cat([f(angle)] * 2, -1) for f in (torch.cos, torch.sin))

    def rotated(x):
        left, right = x.chunk(2, -1)
        return x * cos + torch.cat([-right, left], -1) * sin

    def heads(x, n):
        return x.view(batch, length, n, HEAD).transpose(1, 2)

    future = torch.ones(length, length, dtype=torch.bool).triu(1)
    x = w["model.embed_tokens.weight"][ids]
    for i in range(LAYERS):
        p = f"model.layers.{i}."
        h = norm(x, p + "input_layernorm")
        q = rotated(heads(linear(h, p + "self_attn.q_proj"), HEADS))
        k = rotated(heads(linear(h, p + "self_attn.k_proj"), KV)).repeat_interleave(HEADS // KV, 1)
        v = heads(linear(h, p + "self_attn.v_proj"), KV).repeat_interleave(HEADS // KV, 1)
        scores = (q @ k.transpose(2, 3) / math.sqrt(HEAD)).masked_fill(future, float("-inf"))
        x = x + linear((scores.softmax(-1) @ v).transpose(1, 2).reshape(batch, length, H), p + "self_attn.o_proj")
        h = norm(x, p + "post_attention_layernorm")
        gate = torch.nn.functional.silu(linear(h, p + "mlp.gate_proj"))
        x = x + linear(gate * linear(h, p + "mlp.up_proj"), p + "mlp.down_proj")
    return norm(x, "model.norm") @ w["lm_head.weight"].T


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


def main():
    folder = pathlib.Path(sys.argv[1] if len(sys.argv) > 1 else pathlib.Path(__file__).parent)
    torch.manual_seed(1)
    (base, factors), data = first_weights(), batches()
    (folder / "config.json").write_text(json.dumps(CONFIG, indent=1) + "\n")
    (folder / "adapter_config.json").write_text(json.dumps(ADAPTER, indent=1) + "\n")
    write_safetensors(folder / "model.safetensors", base)
    write_safetensors(folder / "adapter_model.safetensors", {PEFT + name: t for name, t in factors.items()})
    write_safetensors(folder / "batches.safetensors", data)
    base = {name: t.double() for name, t in base.items()}
    factors = {name: t.double().requires_grad_() for name, t in factors.items()}
    optimizer = torch.optim.AdamW(factors.values(), lr=RATE, betas=(0.9, 0.999), eps=1e-8, weight_decay=DECAY)
    expected, losses = {}, []
    for step in range(STEPS):
        for group in optimizer.param_groups:
            group["lr"] = RATE * (STEPS - step) / STEPS
        ids, labels = data[f"step{step}.input_ids"], data[f"step{step}.labels"]
        logits = forward({**base, **factors}, ids)
        loss = torch.nn.functional.cross_entropy(logits[:, :-1].reshape(-1, 64), labels[:, 1:].reshape(-1))
        optimizer.zero_grad()
        loss.backward()
        losses.append(loss.item())
        if step == 0:
            expected["step0.logits"] = logits
            expected.update({"step0.grad." + name: tensor.grad.clone() for name, tensor in factors.items()})
        optimizer.step()
    expected.update({"final." + name: tensor for name, tensor in factors.items()})
    write_safetensors(folder / "expected.safetensors", expected)
    (folder / "expected.json").write_text(json.dumps({
        "loss_per_step": losses, "steps": STEPS, "batch": BATCH, "seq": SEQ, "lr": RATE,
        "schedule": "linear to 0, no warm-up",
        "optimizer": f"AdamW betas 0.9 0.999 eps 1e-8 weight_decay {DECAY} on all that is trained",
        "dropout": 0.0, "dtype": "float64 from float32", "torch": torch.__version__}, indent=1) + "\n")


if __name__ == "__main__":
    main()
