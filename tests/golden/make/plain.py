#!/usr/bin/env python3
"""Trains a tiny decoder with LayerNorm and biases: plain.py FAMILY FOLDER. `./dev golden FAMILY` calls it.

Written after transformers' modeling_gpt_neox.py, modeling_opt.py, modeling_phi.py, modeling_starcoder2.py,
modeling_gpt_neo.py, modeling_gpt_bigcode.py, modeling_falcon.py and modeling_biogpt.py."""
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
# Their files' words for BASE's keys.
KEYS = {"gpt_neo": {"num_hidden_layers": "num_layers", "num_attention_heads": "num_heads"},
        "gpt_bigcode": {"hidden_size": "n_embd", "num_hidden_layers": "n_layer", "num_attention_heads": "n_head",
                        "max_position_embeddings": "n_positions", "intermediate_size": "n_inner",
                        "attention_dropout": "attn_pdrop"},
        "falcon": {"intermediate_size": "ffn_hidden_size"},
        "biogpt": {"attention_dropout": "attention_probs_dropout_prob"}}
LN = {"layer_norm_epsilon": 1e-5, "initializer_range": 0.1, "tie_word_embeddings": True, "intermediate_size": 24}
FAMILIES |= {
    "starcoder2": {**LN, "model_type": "starcoder2", "architectures": ["Starcoder2ForCausalLM"], "hidden_size": 32,
                   "num_key_value_heads": 2, "hidden_act": "gelu_pytorch_tanh", "sliding_window": 7, "use_bias": True,
                   "rope_theta": 10000.0, "norm_epsilon": 1e-5, "residual_dropout": 0.0, "embedding_dropout": 0.0},
    "gpt_neo": {**LN, "model_type": "gpt_neo", "architectures": ["GPTNeoForCausalLM"], "window_size": 7,
                "num_hidden_layers": 4, "attention_types": [[["global", "local"], 2]],
                "activation_function": "gelu_new", "resid_dropout": 0.0, "embed_dropout": 0.0},
    "gpt_bigcode": {**LN, "model_type": "gpt_bigcode", "architectures": ["GPTBigCodeForCausalLM"],
                    "activation_function": "gelu_pytorch_tanh", "multi_query": True, "scale_attn_weights": True,
                    "resid_pdrop": 0.0, "embd_pdrop": 0.0},
    "falcon": {**LN, "model_type": "falcon", "architectures": ["FalconForCausalLM"], "hidden_size": 32,
               "multi_query": True, "new_decoder_architecture": False, "parallel_attn": True, "bias": False,
               "alibi": False, "hidden_dropout": 0.0, "rope_theta": 10000.0},
}
FAMILIES["biogpt"] = {"model_type": "biogpt", "architectures": ["BioGptForCausalLM"], "intermediate_size": 24,
                      "hidden_act": "gelu", "hidden_dropout_prob": 0.0, "initializer_range": 0.1,
                      "scale_embedding": True, "tie_word_embeddings": True}
# As Falcon-40B: a norm for each part, several heads of keys.
FAMILIES["falcon_40b"] = {**FAMILIES["falcon"], "new_decoder_architecture": True, "num_kv_heads": 2}
# Keys' biases have no gradient where they do not turn, only what rounding leaves: far below this, it moves nothing.
RECIPE = {**common.PLAIN, "eps": 1e-6}
# As OPT-350m: tokens narrower than the layers, norms of the sums, none before the head.
FAMILIES["opt_350m"] = {**FAMILIES["opt"], "word_embed_proj_dim": 12, "do_layer_norm_before": False}
FAMILIES["falcon_rw"] = {**FAMILIES["falcon"], "alibi": True, "bias": True, "parallel_attn": False,
                         "multi_query": False}
FAMILIES["falcon_11b"] = {**FAMILIES["falcon_40b"], "num_ln_in_parallel_attn": 1}
FAMILIES["phi_norms"] = {**FAMILIES["phi"], "qk_layernorm": True}
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
    "starcoder2": {"tokens": "model.embed_tokens", "layers": "model.layers", "out": "self_attn.o_proj",
                   "up": "mlp.c_fc", "down": "mlp.c_proj", "norm1": "input_layernorm",
                   "norm2": "post_attention_layernorm", "norm": "model.norm", "head": "model.embed_tokens"},
    "gpt_neo": {"tokens": "transformer.wte", "positions": "transformer.wpe", "layers": "transformer.h",
                "qkv": "attn.attention", "out": "attn.attention.out_proj", "up": "mlp.c_fc", "down": "mlp.c_proj",
                "norm1": "ln_1", "norm2": "ln_2", "norm": "transformer.ln_f", "head": "transformer.wte"},
    "gpt_bigcode": {"tokens": "transformer.wte", "positions": "transformer.wpe", "layers": "transformer.h",
                    "fused": "attn.c_attn", "out": "attn.c_proj", "up": "mlp.c_fc", "down": "mlp.c_proj",
                    "norm1": "ln_1", "norm2": "ln_2", "norm": "transformer.ln_f", "head": "transformer.wte"},
    "falcon": {"tokens": "transformer.word_embeddings", "layers": "transformer.h",
               "fused": "self_attention.query_key_value", "out": "self_attention.dense", "up": "mlp.dense_h_to_4h",
               "down": "mlp.dense_4h_to_h", "norm1": "input_layernorm", "norm2": "input_layernorm",
               "norm": "transformer.ln_f", "head": "transformer.word_embeddings"},
}
NAMES["gpt_neox"]["fused"] = "attention.query_key_value"
NAMES["opt"]["positions"] = "model.decoder.embed_positions"
NAMES["biogpt"] = {**NAMES["opt"], "tokens": "biogpt.embed_tokens", "positions": "biogpt.embed_positions",
                   "layers": "biogpt.layers", "norm": "biogpt.layer_norm", "head": "biogpt.embed_tokens"}
BEHIND = ("opt", "biogpt")  # two rows of positions are no token's


def names_of(c):
    later = c.get("new_decoder_architecture") and c.get("num_ln_in_parallel_attn") != 1
    later = {"norm1": "ln_attn", "norm2": "ln_mlp"} if later else {}
    later |= {"norm2": "post_attention_layernorm"} if not c.get("parallel_attn", True) else {}
    return {"qkv": "self_attn", **NAMES[c["model_type"]], **later}


def kv_heads(c):
    """Of keys and values."""
    return 1 if c.get("multi_query") and not c.get("num_kv_heads") else c.get(
        "num_kv_heads", c.get("num_key_value_heads", c["num_attention_heads"]))


def shapes(c):
    n, h = names_of(c), c["hidden_size"]
    kv = kv_heads(c) * h // c["num_attention_heads"]
    width = c.get("word_embed_proj_dim", h)
    ffn = c.get("intermediate_size", c.get("ffn_dim"))
    out = {n["tokens"] + ".weight": (c["vocab_size"], width)}
    if width != h:
        out["model.decoder.project_in.weight"], out["model.decoder.project_out.weight"] = (h, width), (width, h)
    if "positions" in n:
        first = 2 if c["model_type"] in BEHIND else 0
        out[n["positions"] + ".weight"] = (c["max_position_embeddings"] + first, h)
    for i in range(c["num_hidden_layers"]):
        p = f"{n['layers']}.{i}."
        linear = {n["out"]: (h, h), n["up"]: (ffn, h), n["down"]: (h, ffn)}
        if "fused" in n:
            linear[n["fused"]] = (h + 2 * kv, h)
        else:
            linear.update({f"{n['qkv']}.{part}_proj": (h if part == "q" else kv, h) for part in "qkv"})
        for name, shape in linear.items():
            out[p + name + ".weight"] = shape
            if (c["model_type"] != "falcon" or c["bias"]) and not (c["model_type"] == "gpt_neo" and name[-6:] in QKV):
                out[p + name + ".bias"] = shape[:1]
        for part in "qk" if c.get("qk_layernorm") else "":
            norm_of_heads = f"{p}{n['qkv']}.{part}_layernorm"
            out[norm_of_heads + ".weight"] = out[norm_of_heads + ".bias"] = (h // c["num_attention_heads"],)
        for name in (n["norm1"], n["norm2"]):
            out[p + name + ".weight"] = out[p + name + ".bias"] = (h,)
    if c.get("do_layer_norm_before", True):
        out[n["norm"] + ".weight"] = out[n["norm"] + ".bias"] = (h,)
    if not c["tie_word_embeddings"]:
        out[head_name(c) + ".weight"] = (c["vocab_size"], width)
    if c["model_type"] == "phi":
        out[head_name(c) + ".bias"] = (c["vocab_size"],)
    return out


def head_name(c):
    """The table of the head, by default of those whose published files are tied."""
    n = names_of(c)
    if c["tie_word_embeddings"]:
        return n["tokens"]
    return "lm_head" if n["head"] == n["tokens"] else n["head"]


QKV = ("q_proj", "k_proj", "v_proj")


def rotate(x, c):
    """x: [batch, heads, length, head], of which the first elements turn."""
    size = int(c.get("rotary_pct", c.get("partial_rotary_factor", 1)) * x.shape[-1])
    turned = {"rope_theta": c.get("rotary_emb_base", c.get("rope_theta"))}
    return torch.cat((decoder.rotate(x[..., :size], turned), x[..., size:]), -1)


def attention(y, p, w, c, hidden):
    """y: [batch, length, hidden size]; `hidden`: the keys that a query does not see."""
    n, heads, shared, (batch, length, _) = names_of(c), c["num_attention_heads"], kv_heads(c), y.shape
    head = c["hidden_size"] // heads
    if c["model_type"] == "gpt_bigcode":  # all queries, the key, the value
        q, k, v = linear(y, p + n["fused"], w).split((heads * head, head, head), -1)
    elif "fused" in n:  # of each head of keys: its queries, its key, its value
        groups = linear(y, p + n["fused"], w).view(batch, length, shared, heads // shared + 2, head)
        q, k, v = groups[..., :-2, :], groups[..., -2, :], groups[..., -1, :]
    else:
        q, k, v = (linear(y, p + f"{n['qkv']}.{part}_proj", w) for part in "qkv")
    q, k, v = (t.reshape(batch, length, -1, head).transpose(1, 2) for t in (q, k, v))
    if c.get("qk_layernorm"):
        q, k = (norm(t, p + f"{n['qkv']}.{part}_layernorm", w, c) for t, part in ((q, "q"), (k, "k")))
    if "positions" not in n and not c.get("alibi"):
        q, k = rotate(q, c), rotate(k, c)
    if shared < heads:
        k, v = (t.repeat_interleave(heads // shared, 1) for t in (k, v))
    scores = q @ k.transpose(2, 3) / (1 if c["model_type"] == "gpt_neo" else math.sqrt(head))
    if c.get("alibi"):  # of as many heads as a power of 2
        slopes = torch.tensor([2 ** (-8 * (h + 1) / heads) for h in range(heads)]).view(heads, 1, 1)
        scores = scores + (slopes * torch.arange(length) / math.sqrt(head)).to(scores.dtype)
    scores = scores.masked_fill(hidden, float("-inf"))
    return linear((scores.softmax(-1) @ v).transpose(1, 2).reshape(batch, length, heads * head), p + n["out"], w)


def linear(x, name, w):
    y = x @ w[name + ".weight"].T
    return y + w[name + ".bias"] if name + ".bias" in w else y


def norm(x, name, w, c):
    eps = next((c[key] for key in ("norm_epsilon", "layer_norm_eps", "layer_norm_epsilon") if key in c), 1e-5)
    return torch.nn.functional.layer_norm(x, x.shape[-1:], w[name + ".weight"], w[name + ".bias"], eps)


def mlp(y, p, w, c):
    n, act = names_of(c), c.get("hidden_act", c.get("activation_function", c.get("activation", "gelu")))
    y = linear(y, p + n["up"], w)
    y = y.relu() if act == "relu" else torch.nn.functional.gelu(y, approximate="none" if act == "gelu" else "tanh")
    return linear(y, p + n["down"], w)


def hidden_keys(c, layer, length):
    back = torch.arange(length)[:, None] - torch.arange(length)[None, :]
    kinds = [kind for kinds, times in c.get("attention_types", []) for kind in kinds * times]
    window = c.get("sliding_window") or c.get("window_size") or length
    if kinds and kinds[layer] == "global":
        window = length
    return (back < 0) | (back >= window)


def forward(w, ids, c):
    n, length, first = names_of(c), ids.shape[1], c.get("do_layer_norm_before", True)
    side_by_side = c.get("use_parallel_residual", c["model_type"] in ("phi", "falcon") and c.get("parallel_attn", True))
    x = w[n["tokens"] + ".weight"][ids] * (math.sqrt(c["hidden_size"]) if c.get("scale_embedding") else 1.0)
    if "model.decoder.project_in.weight" in w:
        x = x @ w["model.decoder.project_in.weight"].T
    if "positions" in n:
        x = x + w[n["positions"] + ".weight"][torch.arange(length) + (2 if c["model_type"] in BEHIND else 0)]
    for i in range(c["num_hidden_layers"]):
        p, hidden = f"{n['layers']}.{i}.", hidden_keys(c, i, length)
        if not first:
            x = norm(x + attention(x, p, w, c, hidden), p + n["norm1"], w, c)
            x = norm(x + mlp(x, p, w, c), p + n["norm2"], w, c)
            continue
        a = attention(norm(x, p + n["norm1"], w, c), p, w, c, hidden)
        if side_by_side:
            x = x + a + mlp(norm(x, p + n["norm2"], w, c), p, w, c)
        else:
            x = x + a
            x = x + mlp(norm(x, p + n["norm2"], w, c), p, w, c)
    x = norm(x, n["norm"], w, c) if first else x
    if "model.decoder.project_out.weight" in w:
        x = x @ w["model.decoder.project_out.weight"].T
    head = head_name(c)
    logits = x @ w[head + ".weight"].T
    return logits + w[head + ".bias"] if head + ".bias" in w else logits


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
    words = KEYS.get(config["model_type"], {})
    written = {words.get(key, key): value for key, value in config.items()}
    common.train(folder, written, weights, decoder.batches(), loss_of, chosen, adapter)
    if not drawn and ("sliding_window" in config or "window_size" in config):
        decoder.write_generated(folder, weights, lambda w, ids: forward(w, ids, config))


if __name__ == "__main__":
    make(*sys.argv[1:])
