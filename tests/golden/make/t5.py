#!/usr/bin/env python3
"""Trains a tiny T5: t5.py FAMILY FOLDER. `./dev golden FAMILY` calls it.

Written after transformers' modeling_t5.py and modeling_umt5.py. Stacks of different depth, heads wider than d_model / num_heads, more
buckets than one side needs, and targets that are shorter than the sources, padded to their own lengths."""
import json
import math
import pathlib
import sys

import torch

import common

BATCH, READ, WRITTEN, VOCAB = 4, 20, 12, 32
BASE = {"model_type": "t5", "architectures": ["T5ForConditionalGeneration"], "vocab_size": VOCAB, "d_model": 16,
        "d_kv": 6, "d_ff": 24, "num_layers": 2, "num_decoder_layers": 2, "num_heads": 4, "n_positions": 24,
        "relative_attention_num_buckets": 8, "relative_attention_max_distance": 14, "dropout_rate": 0.0,
        "layer_norm_epsilon": 1e-6, "initializer_factor": 1.0, "is_encoder_decoder": True, "pad_token_id": 0,
        "eos_token_id": 1, "decoder_start_token_id": 0}
FAMILIES = {
    "t5": {**BASE, "feed_forward_proj": "relu"},  # tied when the file does not say
    "t5_v1_1": {**BASE, "feed_forward_proj": "gated-gelu", "tie_word_embeddings": False, "num_layers": 3,
                "decoder_start_token_id": 3},
    "umt5": {**BASE, "model_type": "umt5", "architectures": ["UMT5ForConditionalGeneration"], "num_layers": 3,
             "feed_forward_proj": "gated-gelu", "tie_word_embeddings": False},
}


def shapes(c):
    h, inner, ffn = c["d_model"], c["num_heads"] * c["d_kv"], c["d_ff"]
    out = {"shared.weight": (c["vocab_size"], h)}
    for stack, layers in (("encoder", c["num_layers"]), ("decoder", c["num_decoder_layers"])):
        for i in range(layers):
            p = f"{stack}.block.{i}.layer."
            parts = ["SelfAttention"] + (["EncDecAttention"] if stack == "decoder" else [])
            for n, part in enumerate(parts):
                for name in "qkv":
                    out[f"{p}{n}.{part}.{name}.weight"] = (inner, h)
                out[f"{p}{n}.{part}.o.weight"] = (h, inner)
                out[f"{p}{n}.layer_norm.weight"] = (h,)
            if i == 0 or c["model_type"] == "umt5":
                out[p + "0.SelfAttention.relative_attention_bias.weight"] = (c["relative_attention_num_buckets"],
                                                                             c["num_heads"])
            n = len(parts)
            for name in ("wi_0", "wi_1") if c["feed_forward_proj"] == "gated-gelu" else ("wi",):
                out[f"{p}{n}.DenseReluDense.{name}.weight"] = (ffn, h)
            out[f"{p}{n}.DenseReluDense.wo.weight"] = (h, ffn)
            out[f"{p}{n}.layer_norm.weight"] = (h,)
        out[stack + ".final_layer_norm.weight"] = (h,)
    if not c.get("tie_word_embeddings", True):
        out["lm_head.weight"] = (c["vocab_size"], h)
    return out


def bucket(distance, both_ways, c):
    """_relative_position_bucket; distance: of the key, seen from the query."""
    buckets, out = c["relative_attention_num_buckets"], torch.zeros_like(distance)
    if both_ways:
        buckets //= 2
        out = out + (distance > 0).long() * buckets
        distance = distance.abs()
    else:
        distance = -torch.minimum(distance, torch.zeros_like(distance))
    exact = buckets // 2
    far = exact + (torch.log(distance.float() / exact) / math.log(c["relative_attention_max_distance"] / exact)
                   * (buckets - exact)).long()
    return out + torch.where(distance < exact, distance, far.clamp(max=buckets - 1))


def attention(w, name, x, source, c, added):
    rows, heads, head = x.shape[0], c["num_heads"], c["d_kv"]
    q, k, v = ((y @ w[name + part + ".weight"].T).view(rows, -1, heads, head).transpose(1, 2)
               for part, y in (("q", x), ("k", source), ("v", source)))
    context = (q @ k.transpose(2, 3) + added).softmax(-1) @ v  # no scale: it is in the first weights of q
    return context.transpose(1, 2).reshape(rows, -1, heads * head) @ w[name + "o.weight"].T


def mlp(w, name, x, c):
    if c["feed_forward_proj"] == "gated-gelu":
        gelu = torch.nn.functional.gelu(x @ w[name + "wi_0.weight"].T, approximate="tanh")
        return (gelu * (x @ w[name + "wi_1.weight"].T)) @ w[name + "wo.weight"].T
    return torch.relu(x @ w[name + "wi.weight"].T) @ w[name + "wo.weight"].T


def stack(w, name, ids, c, mask, source=None):
    def norm(x, part):
        return x * torch.rsqrt((x * x).mean(-1, keepdim=True) + c["layer_norm_epsilon"]) * w[part + ".weight"]

    length, kind = ids.shape[1], w["shared.weight"].dtype
    distance = torch.arange(length)[None, :] - torch.arange(length)[:, None]
    hidden = ((mask[:, None, None, :] - 1) * 1e9).to(kind)
    unseen = hidden if source is None else ((distance > 0).long() * -1e9).to(kind)
    x = w["shared.weight"][ids]
    for i in range(c["num_layers" if source is None else "num_decoder_layers"]):
        p, n = f"{name}.block.{i}.layer.", 0
        table = w[f"{name}.block.{i if c['model_type'] == 'umt5' else 0}.layer.0.SelfAttention.relative_attention_bias"
                  ".weight"]
        own = table[bucket(distance, source is None, c)].permute(2, 0, 1)[None] + unseen
        y = norm(x, f"{p}0.layer_norm")
        x = x + attention(w, f"{p}0.SelfAttention.", y, y, c, own)
        if source is not None:
            n = 1
            x = x + attention(w, f"{p}1.EncDecAttention.", norm(x, f"{p}1.layer_norm"), source, c, hidden)
        x = x + mlp(w, f"{p}{n + 1}.DenseReluDense.", norm(x, f"{p}{n + 1}.layer_norm"), c)
    return norm(x, name + ".final_layer_norm")


def shifted(labels, c):
    """_shift_right"""
    ids = labels.roll(1, 1)
    ids[:, 0] = c["decoder_start_token_id"]
    return ids.masked_fill(ids == -100, c["pad_token_id"])


def forward(w, ids, mask, targets, c):
    source = stack(w, "encoder", ids, c, mask)
    x = stack(w, "decoder", targets, c, mask, source)
    if c.get("tie_word_embeddings", True):
        return (x * c["d_model"] ** -0.5) @ w["shared.weight"].T
    return x @ w["lm_head.weight"].T


def batches(c):
    """The target: every other token of the source, and the end."""
    out = {}
    for step in range(common.STEPS):
        read = torch.randint(READ // 2, READ + 1, (BATCH,))
        ids, mask = torch.randint(2, VOCAB, (BATCH, READ)), torch.zeros(BATCH, READ, dtype=torch.long)
        labels = torch.full((BATCH, WRITTEN), -100)
        for row, length in enumerate(read.tolist()):
            mask[row, :length] = 1
            written = ids[row, :length:2]
            labels[row, :len(written)], labels[row, len(written)] = written, c["eos_token_id"]
        step = f"step{step}."
        out[step + "input_ids"], out[step + "attention_mask"] = ids * mask, mask
        out[step + "labels"] = labels
    return out


def greedy(w, ids, mask, c, tokens):
    """generate() without an end: the likeliest token, one after the other."""
    written = torch.full((len(ids), 1), c["decoder_start_token_id"])
    for _ in range(tokens):
        next_ids = forward(w, ids, mask, written, c)[:, -1].argmax(-1)
        written = torch.cat([written, next_ids[:, None]], 1)
    return written[:, 1:].tolist()


def make(family, folder, seed=5, changes=None, sizes=None, **drawn):
    """`changes`: of the family's config; `sizes`: of this module's BATCH, READ, WRITTEN, VOCAB; `drawn`: deviation of
    the first weights, recipe."""
    globals().update(sizes or {})
    chosen = drawn.get("recipe") or common.PLAIN
    config = {**FAMILIES[family], **(changes or {})}
    torch.set_num_threads(1)
    torch.manual_seed(seed)

    def loss_of(w, batch):
        labels = batch["labels"]
        logits = forward(w, batch["input_ids"], batch["attention_mask"], shifted(labels, config), config)
        return logits, torch.nn.functional.cross_entropy(logits.reshape(-1, VOCAB), labels.reshape(-1),
                                                         label_smoothing=chosen["smoothing"])

    weights, data = common.draw(shapes(config), drawn.get("deviation", 0.3)), batches(config)
    adapter = drawn["adapter"](weights) if drawn.get("adapter") else None
    common.train(folder, config, weights, data, loss_of, chosen, adapter)
    if drawn:
        return
    exact = {name: tensor.double() for name, tensor in weights.items()}
    written = greedy(exact, data["step0.input_ids"], data["step0.attention_mask"], config, WRITTEN)
    (pathlib.Path(folder) / "generated.json").write_text(json.dumps({"step0.input_ids": written}) + "\n")


if __name__ == "__main__":
    make(*sys.argv[1:])
