#!/usr/bin/env python3
"""Trains a tiny relative of BERT as a classifier: encoder.py FAMILY FOLDER. `./dev golden FAMILY` calls it.

Written after transformers' modeling_roberta.py, modeling_distilbert.py and modeling_electra.py."""
import math
import sys

import torch

import common

BATCH, SEQ, VOCAB, H, LAYERS, HEADS, FFN, LABELS = 4, 20, 32, 16, 2, 4, 24, 3
NAMES = {str(i): f"LABEL_{i}" for i in range(LABELS)}
COMMON = {"vocab_size": VOCAB, "initializer_range": 0.1, "id2label": NAMES,
          "label2id": {name: int(i) for i, name in NAMES.items()}}
BERT = {**COMMON, "hidden_size": H, "num_hidden_layers": LAYERS, "num_attention_heads": HEADS,
        "intermediate_size": FFN, "hidden_act": "gelu", "hidden_dropout_prob": 0.0,
        "attention_probs_dropout_prob": 0.0, "classifier_dropout": None, "position_embedding_type": "absolute"}
FAMILIES = {
    "roberta": {**BERT, "model_type": "roberta", "architectures": ["RobertaForSequenceClassification"],
                "layer_norm_eps": 1e-5, "max_position_embeddings": 26, "type_vocab_size": 1, "pad_token_id": 1},
    "electra": {**BERT, "model_type": "electra", "architectures": ["ElectraForSequenceClassification"],
                "layer_norm_eps": 1e-12, "max_position_embeddings": 24, "type_vocab_size": 2, "pad_token_id": 0,
                "embedding_size": H},
    "distilbert": {**COMMON, "model_type": "distilbert", "architectures": ["DistilBertForSequenceClassification"],
                   "dim": H, "n_layers": LAYERS, "n_heads": HEADS, "hidden_dim": FFN, "activation": "gelu",
                   "dropout": 0.0, "attention_dropout": 0.0, "seq_classif_dropout": 0.0,
                   "max_position_embeddings": 24, "pad_token_id": 0, "sinusoidal_pos_embds": False},
}
BERT_PARTS = {"q": "attention.self.query", "k": "attention.self.key", "v": "attention.self.value",
              "out": "attention.output.dense", "norm1": "attention.output.LayerNorm", "up": "intermediate.dense",
              "down": "output.dense", "norm2": "output.LayerNorm"}
DISTIL_PARTS = {"q": "attention.q_lin", "k": "attention.k_lin", "v": "attention.v_lin", "out": "attention.out_lin",
                "norm1": "sa_layer_norm", "up": "ffn.lin1", "down": "ffn.lin2", "norm2": "output_layer_norm"}


def naming(family):
    if family == "distilbert":
        return "distilbert.", "distilbert.transformer.layer.", DISTIL_PARTS, "pre_classifier", "classifier"
    return family + ".", family + ".encoder.layer.", BERT_PARTS, "classifier.dense", "classifier.out_proj"


def shapes(family, c):
    prefix, layers, parts, pooled, top = naming(family)
    out = {prefix + "embeddings.word_embeddings.weight": (VOCAB, H),
           prefix + "embeddings.position_embeddings.weight": (c["max_position_embeddings"], H)}
    if "type_vocab_size" in c:
        out[prefix + "embeddings.token_type_embeddings.weight"] = (c["type_vocab_size"], H)

    def pair(name, *weight):
        out[name + ".weight"], out[name + ".bias"] = weight, (weight[0],)

    pair(prefix + "embeddings.LayerNorm", H)
    for i in range(LAYERS):
        for part, name in parts.items():
            size = {"up": (FFN, H), "down": (H, FFN), "norm1": (H,), "norm2": (H,)}.get(part, (H, H))
            pair(f"{layers}{i}.{name}", *size)
    pair(pooled, H, H)
    pair(top, LABELS, H)
    return out


def forward(w, batch, family, c):
    prefix, layers, parts, pooled, top = naming(family)

    def linear(x, name):
        return x @ w[name + ".weight"].T + w[name + ".bias"]

    def norm(x, name):
        return torch.nn.functional.layer_norm(x, (H,), w[name + ".weight"], w[name + ".bias"],
                                              c.get("layer_norm_eps", 1e-12))

    ids, mask = batch["input_ids"], batch["attention_mask"]
    rows, length = ids.shape
    embeddings = prefix + "embeddings."
    places = torch.arange(length).expand(rows, length)
    if family == "roberta":  # create_position_ids_from_input_ids; padding stands at pad_token_id
        places = torch.cumsum(mask, 1) * mask + c["pad_token_id"]
    x = w[embeddings + "word_embeddings.weight"][ids] + w[embeddings + "position_embeddings.weight"][places]
    if "type_vocab_size" in c:
        types = batch.get("token_type_ids", torch.zeros_like(ids))
        x = x + w[embeddings + "token_type_embeddings.weight"][types]
    x = norm(x, embeddings + "LayerNorm")
    for i in range(LAYERS):
        part = {key: f"{layers}{i}.{name}" for key, name in parts.items()}
        q, k, v = (linear(x, part[n]).view(rows, length, HEADS, H // HEADS).transpose(1, 2) for n in "qkv")
        scores = q @ k.transpose(2, 3) / math.sqrt(H // HEADS) + (mask[:, None, None, :] - 1) * 1e9
        y = linear((scores.softmax(-1) @ v).transpose(1, 2).reshape(rows, length, H), part["out"])
        x = norm(x + y, part["norm1"])
        x = norm(x + linear(torch.nn.functional.gelu(linear(x, part["up"])), part["down"]), part["norm2"])
    first = linear(x[:, 0], pooled)
    first = {"roberta": torch.tanh, "electra": torch.nn.functional.gelu, "distilbert": torch.relu}[family](first)
    return linear(first, top)


def batches(family, c):
    """The label is the count of small tokens in a row, by thirds; rows are padded to their own lengths."""
    out = {}
    for step in range(common.STEPS):
        ids = torch.randint(2, VOCAB, (BATCH, SEQ))
        mask = (torch.arange(SEQ) < torch.randint(SEQ // 2, SEQ + 1, (BATCH, 1))).long()
        labels = ((ids < VOCAB // 2).long() * mask).sum(1) % LABELS
        step = f"step{step}."
        out[step + "input_ids"] = ids * mask + c["pad_token_id"] * (1 - mask)
        out[step + "attention_mask"], out[step + "labels"] = mask, labels
        if family == "electra":
            out[step + "token_type_ids"] = (torch.arange(SEQ) >= SEQ // 2).long() * mask
    return out


def main():
    family, folder = sys.argv[1:]
    config = FAMILIES[family]
    torch.set_num_threads(1)
    torch.manual_seed(2)

    def loss_of(w, batch):
        logits = forward(w, batch, family, config)
        return logits, torch.nn.functional.cross_entropy(logits, batch["labels"])

    common.train(folder, config, common.draw(shapes(family, config)), batches(family, config), loss_of)


if __name__ == "__main__":
    main()
