#!/usr/bin/env python3
"""Trains a tiny decoder with LayerNorm and biases: plain.py FAMILY FOLDER. `./dev golden FAMILY` calls it.

Written after transformers' modeling_gpt_neox.py, modeling_opt.py and modeling_phi.py."""
import math
import sys

import torch

import common
import decoder

BASE = {"vocab_size": decoder.VOCAB, "hidden_size": 16, "num_hidden_layers": 2, "num_attention_heads": 4,
        "max_position_embeddings": 40, "attention_dropout": 0.0, "bos_token_id": 1, "eos_token_id": 2}
FAMILIES = {
    "gpt_neox": {"model_type": "gpt_neox", "architectures": ["GPTNeoXForCausalLM"], "hidden_size": 32,
                 "intermediate_size": 24, "hidden_act": "gelu", "rotary_pct": 0.5, "rotary_emb_base": 10000.0,
                 "hidden_dropout": 0.0, "layer_norm_eps": 1e-5, "initializer_range": 0.1,
                 "use_parallel_residual": True, "tie_word_embeddings": False, "attention_bias": True},
    "opt": {"model_type": "opt", "architectures": ["OPTForCausalLM"], "ffn_dim": 24, "activation_function": "relu",
            "dropout": 0.0, "init_std": 0.1, "word_embed_proj_dim": 16, "do_layer_norm_before": True,
            "tie_word_embeddings": True},
    "phi": {"model_type": "phi", "architectures": ["PhiForCausalLM"], "hidden_size": 32, "intermediate_size": 24,
            "num_key_value_heads": 4, "hidden_act": "gelu_pytorch_tanh", "partial_rotary_factor": 0.5,
            "rope_theta": 10000.0, "layer_norm_eps": 1e-5, "initializer_range": 0.1, "resid_pdrop": 0.0,
            "embd_pdrop": 0.0, "qk_layernorm": False, "tie_word_embeddings": False},
}
# Keys' biases have no gradient where they do not turn, only what rounding leaves: far below this, it moves nothing.
RECIPE = {**common.PLAIN, "eps": 1e-6}
# As OPT-350m: tokens narrower than the layers, norms of the sums, none before the head.
FAMILIES["opt_350m"] = {**FAMILIES["opt"], "word_embed_proj_dim": 12, "do_layer_norm_before": False}
# As gpt_neox, with attention before the MLP.
FAMILIES["gpt_neox_serial"] = {**FAMILIES["gpt_neox"], "use_parallel_residual": False}
NAMES = {
    "gpt_neox": {"tokens": "gpt_neox.embed_in", "layers": "gpt_neox.layers", "out": "attention.dense",
                 "up": "mlp.dense_h_to_4h", "down": "mlp.dense_4h_to_h", "norm1": "input_layernorm",
                 "norm2": "post_attention_layernorm", "norm": "gpt_neox.final_layer_norm", "head": "embed_out"},
    "opt": {"tokens": "model.decoder.embed_tokens", "layers": "model.decoder.layers", "out": "self_attn.out_proj",
            "up": "fc1", "down": "fc2", "norm1": "self_attn_layer_norm", "norm2": "final_layer_norm",
            "norm": "model.decoder.final_layer_norm", "head": "model.decoder.embed_tokens"},
    "phi": {"tokens": "model.embed_tokens", "layers": "model.layers", "out": "self_attn.dense", "up": "mlp.fc1",
            "down": "mlp.fc2", "norm1": "input_layernorm", "norm2": "input_layernorm",
            "norm": "model.final_layernorm", "head": "lm_head"},
}


def shapes(c):
    n, h = NAMES[c["model_type"]], c["hidden_size"]
    width = c.get("word_embed_proj_dim", h)
    ffn = c.get("intermediate_size", c.get("ffn_dim"))
    out = {n["tokens"] + ".weight": (c["vocab_size"], width)}
    if width != h:
        out["model.decoder.project_in.weight"], out["model.decoder.project_out.weight"] = (h, width), (width, h)
    if c["model_type"] == "opt":
        out["model.decoder.embed_positions.weight"] = (c["max_position_embeddings"] + 2, h)
    for i in range(c["num_hidden_layers"]):
        p = f"{n['layers']}.{i}."
        linear = {n["out"]: (h, h), n["up"]: (ffn, h), n["down"]: (h, ffn)}
        if c["model_type"] != "gpt_neox":
            linear.update({f"self_attn.{part}_proj": (h, h) for part in "qkv"})
        else:
            linear["attention.query_key_value"] = (3 * h, h)
        for name, shape in linear.items():
            out[p + name + ".weight"], out[p + name + ".bias"] = shape, shape[:1]
        for name in (n["norm1"], n["norm2"]):
            out[p + name + ".weight"] = out[p + name + ".bias"] = (h,)
    if c.get("do_layer_norm_before", True):
        out[n["norm"] + ".weight"] = out[n["norm"] + ".bias"] = (h,)
    if not c["tie_word_embeddings"]:
        out[n["head"] + ".weight"] = (c["vocab_size"], h)
    if c["model_type"] == "phi":
        out[n["head"] + ".bias"] = (c["vocab_size"],)
    return out


def rotate(x, c):
    """x: [batch, heads, length, head], of which the first elements turn."""
    size = int(c.get("rotary_pct", c.get("partial_rotary_factor")) * x.shape[-1])
    turned = {"rope_theta": c.get("rotary_emb_base", c.get("rope_theta"))}
    return torch.cat((decoder.rotate(x[..., :size], turned), x[..., size:]), -1)


def forward(w, ids, c):
    n, neox, opt = NAMES[c["model_type"]], c["model_type"] == "gpt_neox", c["model_type"] == "opt"
    heads, (batch, length) = c["num_attention_heads"], ids.shape
    head = c["hidden_size"] // heads

    def linear(x, name):
        return x @ w[name + ".weight"].T + w[name + ".bias"]

    def norm(x, name):
        return torch.nn.functional.layer_norm(x, x.shape[-1:], w[name + ".weight"], w[name + ".bias"], 1e-5)

    def attention(y, p):
        if neox:  # of each head its query, key and value
            qkv = linear(y, p + "attention.query_key_value").view(batch, length, heads, 3 * head).split(head, -1)
        else:
            qkv = [linear(y, p + f"self_attn.{part}_proj").view(batch, length, heads, head) for part in "qkv"]
        q, k, v = (t.transpose(1, 2) for t in qkv)
        if not opt:
            q, k = rotate(q, c), rotate(k, c)
        scores = (q @ k.transpose(2, 3) / math.sqrt(head)).masked_fill(hidden, float("-inf"))
        return linear((scores.softmax(-1) @ v).transpose(1, 2).reshape(batch, length, heads * head), p + n["out"])

    def mlp(y, p):
        y = linear(y, p + n["up"])
        y = y.relu() if opt else torch.nn.functional.gelu(y, approximate="none" if neox else "tanh")
        return linear(y, p + n["down"])

    place = torch.arange(length)
    hidden = place[None, :] > place[:, None]
    x, first = w[n["tokens"] + ".weight"][ids], c.get("do_layer_norm_before", True)
    if "model.decoder.project_in.weight" in w:
        x = x @ w["model.decoder.project_in.weight"].T
    if opt:
        x = x + w["model.decoder.embed_positions.weight"][place + 2]
    for i in range(c["num_hidden_layers"]):
        p = f"{n['layers']}.{i}."
        if not first:
            x = norm(x + attention(x, p), p + n["norm1"])
            x = norm(x + mlp(x, p), p + n["norm2"])
            continue
        a = attention(norm(x, p + n["norm1"]), p)
        if c.get("use_parallel_residual", not opt):
            x = x + a + mlp(norm(x, p + n["norm2"]), p)
        else:
            x = x + a
            x = x + mlp(norm(x, p + n["norm2"]), p)
    x = norm(x, n["norm"]) if first else x
    if "model.decoder.project_out.weight" in w:
        x = x @ w["model.decoder.project_out.weight"].T
    logits = x @ w[n["head"] + ".weight"].T
    return logits + w[n["head"] + ".bias"] if n["head"] + ".bias" in w else logits


def make(family, folder, seed=1, changes=None, sizes=None, **drawn):
    """`changes`: of the family's config; `sizes`: of decoder.py's BATCH, SEQ, VOCAB; `drawn`: deviation of the first
    weights, recipe, adapter(weights)."""
    vars(decoder).update(sizes or {})
    config, chosen = {**BASE, **FAMILIES[family], **(changes or {})}, drawn.get("recipe") or RECIPE
    torch.set_num_threads(1)
    torch.manual_seed(seed)

    def loss_of(w, batch):
        logits = forward(w, batch["input_ids"], config)
        flat, labels = logits[:, :-1].reshape(-1, decoder.VOCAB), batch["labels"][:, 1:].reshape(-1)
        return logits, torch.nn.functional.cross_entropy(flat, labels, label_smoothing=chosen["smoothing"])

    weights = common.draw(shapes(config), drawn.get("deviation", 0.1))
    adapter = drawn["adapter"](weights) if drawn.get("adapter") else None
    common.train(folder, config, weights, decoder.batches(), loss_of, chosen, adapter)


if __name__ == "__main__":
    make(*sys.argv[1:])
