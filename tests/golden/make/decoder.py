#!/usr/bin/env python3
"""Trains a tiny relative of Llama: decoder.py FAMILY FOLDER. `./dev golden FAMILY` calls it.

Written after transformers' modeling_llama.py, modeling_mistral.py, modeling_qwen2.py, modeling_qwen3.py,
modeling_gemma.py, modeling_granite.py and modeling_rope_utils.py."""
import math
import sys

import torch

import common

BATCH, SEQ, VOCAB = 4, 24, 32
BASE = {"vocab_size": VOCAB, "hidden_size": 16, "num_hidden_layers": 2, "num_attention_heads": 4,
        "num_key_value_heads": 2, "head_dim": 4, "intermediate_size": 24, "max_position_embeddings": 40,
        "hidden_act": "silu", "rms_norm_eps": 1e-6, "rope_theta": 10000.0, "initializer_range": 0.1,
        "tie_word_embeddings": False, "bos_token_id": 1, "eos_token_id": 2, "attention_dropout": 0.0}
FAMILIES = {
    "qwen2": {"model_type": "qwen2", "architectures": ["Qwen2ForCausalLM"], "use_sliding_window": False,
              "sliding_window": 32, "max_window_layers": 2, "tie_word_embeddings": True},
    "mistral": {"model_type": "mistral", "architectures": ["MistralForCausalLM"], "sliding_window": 7},
    "qwen3": {"model_type": "qwen3", "architectures": ["Qwen3ForCausalLM"], "head_dim": 8, "attention_bias": False},
    "gemma": {"model_type": "gemma", "architectures": ["GemmaForCausalLM"], "head_dim": 8, "num_key_value_heads": 1,
              "hidden_act": "gelu", "hidden_activation": "gelu_pytorch_tanh", "tie_word_embeddings": True},
    "granite": {"model_type": "granite", "architectures": ["GraniteForCausalLM"], "embedding_multiplier": 3.0,
                "residual_multiplier": 0.5, "attention_multiplier": 0.2, "logits_scaling": 2.0},
    "llama_linear": {"model_type": "llama", "architectures": ["LlamaForCausalLM"],
                     "rope_scaling": {"type": "linear", "factor": 2.0}},
}


def shapes(c):
    h, head, ffn = c["hidden_size"], c["head_dim"], c["intermediate_size"]
    q, kv = c["num_attention_heads"] * head, c["num_key_value_heads"] * head
    out = {"model.embed_tokens.weight": (c["vocab_size"], h)}
    for i in range(c["num_hidden_layers"]):
        p = f"model.layers.{i}."
        for name, size in (("q", q), ("k", kv), ("v", kv)):
            out[p + f"self_attn.{name}_proj.weight"] = (size, h)
            if c["model_type"] == "qwen2":
                out[p + f"self_attn.{name}_proj.bias"] = (size,)
        if c["model_type"] == "qwen3":
            out[p + "self_attn.q_norm.weight"] = out[p + "self_attn.k_norm.weight"] = (head,)
        out[p + "self_attn.o_proj.weight"] = (h, q)
        out[p + "mlp.gate_proj.weight"] = out[p + "mlp.up_proj.weight"] = (ffn, h)
        out[p + "mlp.down_proj.weight"] = (h, ffn)
        out[p + "input_layernorm.weight"] = out[p + "post_attention_layernorm.weight"] = (h,)
    out["model.norm.weight"] = (h,)
    if not c["tie_word_embeddings"]:
        out["lm_head.weight"] = (c["vocab_size"], h)
    return out


def rotate(x, c):
    """x: [batch, heads, length, head]."""
    head, length = x.shape[-1], x.shape[-2]
    frequencies = c["rope_theta"] ** (-torch.arange(0, head, 2).double() / head)
    if "rope_scaling" in c:
        frequencies = frequencies / c["rope_scaling"]["factor"]
    # As the device has them: cosines and sines are tables of fp32.
    angles = torch.outer(torch.arange(length).double(), frequencies)
    cos, sin = (torch.cat((t, t), -1).float().double() for t in (angles.cos(), angles.sin()))
    half = head // 2
    return x * cos + torch.cat((-x[..., half:], x[..., :half]), -1) * sin


def forward(w, ids, c):
    gemma, qwen3 = c["model_type"] == "gemma", c["model_type"] == "qwen3"
    heads, kv_heads, head = c["num_attention_heads"], c["num_key_value_heads"], c["head_dim"]

    def linear(x, name):
        y = x @ w[name + ".weight"].T
        return y + w[name + ".bias"] if name + ".bias" in w else y

    def norm(x, name):
        x = x * torch.rsqrt(x.pow(2).mean(-1, keepdim=True) + c["rms_norm_eps"])
        return x * (1 + w[name + ".weight"]) if gemma else x * w[name + ".weight"]

    def act(x):
        return torch.nn.functional.gelu(x, approximate="tanh") if gemma else torch.nn.functional.silu(x)

    batch, length = ids.shape
    place = torch.arange(length)
    back = place[:, None] - place[None, :]
    hidden = (back < 0) | (back >= (c.get("sliding_window") or length if c["model_type"] == "mistral" else length))
    scale = c.get("attention_multiplier", 1 / math.sqrt(head))
    residual = c.get("residual_multiplier", 1)
    x = w["model.embed_tokens.weight"][ids] * c.get("embedding_multiplier", 1)
    if gemma:
        x = x * math.sqrt(c["hidden_size"])
    for i in range(c["num_hidden_layers"]):
        p = f"model.layers.{i}."
        y = norm(x, p + "input_layernorm")
        q, k, v = (linear(y, p + f"self_attn.{n}_proj").view(batch, length, -1, head) for n in "qkv")
        if qwen3:
            q, k = norm(q, p + "self_attn.q_norm"), norm(k, p + "self_attn.k_norm")
        q, k, v = rotate(q.transpose(1, 2), c), rotate(k.transpose(1, 2), c), v.transpose(1, 2)
        k, v = (t.repeat_interleave(heads // kv_heads, 1) for t in (k, v))
        p_attention = (q @ k.transpose(2, 3) * scale).masked_fill(hidden, float("-inf")).softmax(-1)
        y = linear((p_attention @ v).transpose(1, 2).reshape(batch, length, heads * head), p + "self_attn.o_proj")
        x = x + residual * y
        y = norm(x, p + "post_attention_layernorm")
        y = linear(act(linear(y, p + "mlp.gate_proj")) * linear(y, p + "mlp.up_proj"), p + "mlp.down_proj")
        x = x + residual * y
    top = w["model.embed_tokens.weight" if c["tie_word_embeddings"] else "lm_head.weight"]
    return norm(x, "model.norm") @ top.T / c.get("logits_scaling", 1)


def batches():
    """Text that can be learnt: counting in steps of its own. What a mask takes out of the loss differs between rows."""
    out = {}
    for step in range(common.STEPS):
        start, stride = torch.randint(0, VOCAB, (BATCH, 1)), torch.randint(1, 4, (BATCH, 1))
        ids = (start + stride * torch.arange(SEQ)) % VOCAB
        labels = ids.clone()
        for row in range(BATCH):
            labels[row, :3 * row] = -100
        out[f"step{step}.input_ids"], out[f"step{step}.labels"] = ids, labels
    return out


def main():
    family, folder = sys.argv[1:]
    config = {**BASE, **FAMILIES[family]}
    torch.set_num_threads(1)
    torch.manual_seed(1)

    def loss_of(w, batch):
        logits = forward(w, batch["input_ids"], config)
        flat, labels = logits[:, :-1].reshape(-1, VOCAB), batch["labels"][:, 1:].reshape(-1)
        return logits, torch.nn.functional.cross_entropy(flat, labels)

    weights = common.draw(shapes(config))
    if config["model_type"] == "gemma":
        weights = {n: t - 1 if len(t.shape) == 1 else t for n, t in weights.items()}
    common.train(folder, config, weights, batches(), loss_of)


if __name__ == "__main__":
    main()
