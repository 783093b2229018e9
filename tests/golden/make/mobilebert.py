#!/usr/bin/env python3
"""Trains a tiny MobileBERT as a classifier: mobilebert.py FAMILY FOLDER. `./dev golden FAMILY` calls it.

Written after transformers' modeling_mobilebert.py. FAMILY_tokens labels tokens."""
import math
import sys

import torch
from torch.nn import functional

import common
import encoder

FAMILIES = {"mobilebert": {**encoder.COMMON, "model_type": "mobilebert", "hidden_size": 24, "num_hidden_layers": 2,
                           "num_attention_heads": 4, "intermediate_size": 20, "embedding_size": 12,
                           "intra_bottleneck_size": 16, "num_feedforward_networks": 3, "hidden_act": "relu",
                           "max_position_embeddings": 24, "type_vocab_size": 2, "pad_token_id": 0,
                           "key_query_shared_bottleneck": True, "classifier_activation": False, "trigram_input": True,
                           "use_bottleneck": True, "use_bottleneck_attention": False, "normalization_type": "no_norm",
                           "hidden_dropout_prob": 0.0, "attention_probs_dropout_prob": 0.0}}
# A layer on the first token; queries and keys of the layer's whole input.
FAMILIES["mobilebert_wide"] = {**FAMILIES["mobilebert"], "key_query_shared_bottleneck": False,
                               "classifier_activation": True, "num_feedforward_networks": 1, "hidden_act": "gelu"}
EMBEDDINGS, POOLED = "mobilebert.embeddings.", "mobilebert.pooler.dense"


def layer_of(i):
    return f"mobilebert.encoder.layer.{i}."


def pools(c, task):
    return c["classifier_activation"] and task != "tokens"


def shapes(c, task):
    h, i, f, out = c["hidden_size"], c["intra_bottleneck_size"], c["intermediate_size"], {}

    def pair(name, *weight):
        out[name + ".weight"], out[name + ".bias"] = weight, weight[:1]

    def normed(name, rows, columns):
        pair(name + "dense", rows, columns)
        pair(name + "LayerNorm", rows)

    out[EMBEDDINGS + "word_embeddings.weight"] = (c["vocab_size"], c["embedding_size"])
    out[EMBEDDINGS + "position_embeddings.weight"] = (c["max_position_embeddings"], h)
    out[EMBEDDINGS + "token_type_embeddings.weight"] = (c["type_vocab_size"], h)
    pair(EMBEDDINGS + "embedding_transformation", h, 3 * c["embedding_size"])
    pair(EMBEDDINGS + "LayerNorm", h)
    for p in map(layer_of, range(c["num_hidden_layers"])):
        read = i if c["key_query_shared_bottleneck"] else h
        for name, columns in (("query", read), ("key", read), ("value", h)):
            pair(f"{p}attention.self.{name}", i, columns)
        normed(p + "attention.output.", i, i)
        pair(p + "intermediate.dense", f, i)
        normed(p + "output.", i, f)
        normed(p + "output.bottleneck.", h, i)
        normed(p + "bottleneck.input.", i, h)
        if c["key_query_shared_bottleneck"]:
            normed(p + "bottleneck.attention.", i, h)
        for n in range(c["num_feedforward_networks"] - 1):
            pair(f"{p}ffn.{n}.intermediate.dense", f, i)
            normed(f"{p}ffn.{n}.output.", i, f)
    if pools(c, task):
        pair(POOLED, h, h)
    pair("classifier", encoder.LABELS, h)
    return out


def forward(w, batch, c, task):
    act = {"relu": torch.relu, "gelu": functional.gelu}[c["hidden_act"]]
    ids, mask = batch["input_ids"], batch["attention_mask"]
    rows, length = ids.shape
    heads = c["num_attention_heads"]

    def linear(x, name):
        return x @ w[name + ".weight"].T + w[name + ".bias"]

    def scaled(x, name):
        return x * w[name + ".weight"] + w[name + ".bias"]

    def part(x, name, added=0):
        return scaled(linear(x, name + "dense") + added, name + "LayerNorm")

    x = w[EMBEDDINGS + "word_embeddings.weight"][ids]
    x = torch.cat((functional.pad(x[:, 1:], (0, 0, 0, 1)), x, functional.pad(x[:, :-1], (0, 0, 1, 0))), -1)
    x = linear(x, EMBEDDINGS + "embedding_transformation")
    types = batch.get("token_type_ids", torch.zeros_like(ids))
    x = x + w[EMBEDDINGS + "position_embeddings.weight"][:length]
    x = x + w[EMBEDDINGS + "token_type_embeddings.weight"][types]
    x = scaled(x, EMBEDDINGS + "LayerNorm")
    for p in map(layer_of, range(c["num_hidden_layers"])):
        narrow = part(x, p + "bottleneck.input.")
        read = part(x, p + "bottleneck.attention.") if c["key_query_shared_bottleneck"] else x
        q, k, v = (linear(y, f"{p}attention.self.{name}").view(rows, length, heads, -1).transpose(1, 2)
                   for y, name in ((read, "query"), (read, "key"), (x, "value")))
        scores = q @ k.transpose(2, 3) / math.sqrt(q.shape[-1]) + ((mask[:, None, None, :] - 1) * 1e9).to(q.dtype)
        context = (scores.softmax(-1) @ v).transpose(1, 2).reshape(rows, length, -1)
        y = part(context, p + "attention.output.", narrow)
        for ffn in [f"ffn.{n}." for n in range(c["num_feedforward_networks"] - 1)] + [""]:
            y = part(act(linear(y, f"{p}{ffn}intermediate.dense")), f"{p}{ffn}output.", y)
        x = part(y, p + "output.bottleneck.", x)
    if task == "tokens":
        return linear(x, "classifier")
    first = torch.tanh(linear(x[:, 0], POOLED)) if pools(c, task) else x[:, 0]
    return linear(first, "classifier")


def make(family, folder, seed=2, changes=None):
    task = "tokens" if family.endswith("_tokens") else ""
    config = {**FAMILIES[family.removesuffix("_tokens")], **(changes or {})}
    config["architectures"] = [f"MobileBertFor{'Token' if task else 'Sequence'}Classification"]
    torch.set_num_threads(1)
    torch.manual_seed(seed)

    def loss_of(w, batch):
        logits = forward(w, batch, config, task)
        flat = logits.reshape(-1, logits.shape[-1])
        return logits, functional.cross_entropy(flat, batch["labels"].reshape(-1))

    weights = common.draw(shapes(config, task))
    # As a model has learnt them: products with about 1 in the place of norms let nothing vanish.
    common.train(folder, config, weights, encoder.batches("electra", task, config), loss_of)


if __name__ == "__main__":
    make(*sys.argv[1:])
