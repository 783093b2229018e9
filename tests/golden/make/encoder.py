#!/usr/bin/env python3
"""Trains a tiny relative of BERT as a classifier: encoder.py FAMILY FOLDER. `./dev golden FAMILY` calls it.

Written after transformers' modeling_bert.py, modeling_roberta.py, modeling_distilbert.py, modeling_electra.py and
modeling_albert.py. FAMILY_tokens labels tokens, FAMILY_mlm says which tokens masks hide."""
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
    "xlm-roberta": {**BERT, "model_type": "xlm-roberta", "architectures": ["XLMRobertaForSequenceClassification"],
                    "layer_norm_eps": 1e-5, "max_position_embeddings": 26, "type_vocab_size": 1, "pad_token_id": 1},
    "electra": {**BERT, "model_type": "electra", "architectures": ["ElectraForSequenceClassification"],
                "layer_norm_eps": 1e-12, "max_position_embeddings": 24, "type_vocab_size": 2, "pad_token_id": 0,
                "embedding_size": H},
    "distilbert": {**COMMON, "model_type": "distilbert", "architectures": ["DistilBertForSequenceClassification"],
                   "dim": H, "n_layers": LAYERS, "n_heads": HEADS, "hidden_dim": FFN, "activation": "gelu",
                   "dropout": 0.0, "attention_dropout": 0.0, "seq_classif_dropout": 0.0,
                   "max_position_embeddings": 24, "pad_token_id": 0, "sinusoidal_pos_embds": False},
    "albert": {**BERT, "model_type": "albert", "architectures": ["AlbertForSequenceClassification"],
               "hidden_act": "gelu_new", "classifier_dropout_prob": 0.0, "num_hidden_groups": 1, "inner_group_num": 1,
               "layer_norm_eps": 1e-12, "max_position_embeddings": 24, "type_vocab_size": 2, "pad_token_id": 0,
               "embedding_size": 12, "num_hidden_layers": 3},
    "bert": {**BERT, "model_type": "bert", "architectures": ["BertForSequenceClassification"],
             "layer_norm_eps": 1e-12, "max_position_embeddings": 24, "type_vocab_size": 2, "pad_token_id": 0},
}
BERT_PARTS = {"q": "attention.self.query", "k": "attention.self.key", "v": "attention.self.value",
              "out": "attention.output.dense", "norm1": "attention.output.LayerNorm", "up": "intermediate.dense",
              "down": "output.dense", "norm2": "output.LayerNorm"}
DISTIL_PARTS = {"q": "attention.q_lin", "k": "attention.k_lin", "v": "attention.v_lin", "out": "attention.out_lin",
                "norm1": "sa_layer_norm", "up": "ffn.lin1", "down": "ffn.lin2", "norm2": "output_layer_norm"}

ALBERT_PARTS = {"q": "attention.query", "k": "attention.key", "v": "attention.value", "out": "attention.dense",
                "norm1": "attention.LayerNorm", "up": "ffn", "down": "ffn_output", "norm2": "full_layer_layer_norm"}


# Names of the head for masked tokens: dense layer, norm, bias behind the table of tokens.
MASKED = {"bert": ("cls.predictions.transform.dense", "cls.predictions.transform.LayerNorm", "cls.predictions.bias"),
          "roberta": ("lm_head.dense", "lm_head.layer_norm", "lm_head.bias"),
          "distilbert": ("vocab_transform", "vocab_layer_norm", "vocab_projector.bias"),
          "electra": ("generator_predictions.dense", "generator_predictions.LayerNorm", "generator_lm_head.bias"),
          "albert": ("predictions.dense", "predictions.LayerNorm", "predictions.bias")}


def naming(family, task):
    if task == "tokens":
        prefix, layers, parts = naming(family, "")[:3]
        return prefix, layers, parts, None, "classifier"
    if family == "bert":
        return "bert.", "bert.encoder.layer.", BERT_PARTS, "bert.pooler.dense", "classifier"
    if family == "albert":
        return ("albert.", "albert.encoder.albert_layer_groups.0.albert_layers.0.", ALBERT_PARTS, "albert.pooler",
                "classifier")
    if family == "distilbert":
        return "distilbert.", "distilbert.transformer.layer.", DISTIL_PARTS, "pre_classifier", "classifier"
    return family + ".", family + ".encoder.layer.", BERT_PARTS, "classifier.dense", "classifier.out_proj"


def layer_names(family, layers, parts, c):
    if family == "albert":  # all layers are one
        return [{key: layers + name for key, name in parts.items()}] * c["num_hidden_layers"]
    return [{key: f"{layers}{i}.{name}" for key, name in parts.items()} for i in range(LAYERS)]


PROJECTIONS = {"albert": "albert.encoder.embedding_hidden_mapping_in", "electra": "electra.embeddings_project"}


def has_projection(family, c):
    return family == "albert" or c.get("embedding_size", H) != H


def shapes(family, task, c):
    prefix, layers, parts, pooled, top = naming(family, task)
    width = c.get("embedding_size", H)
    out = {prefix + "embeddings.word_embeddings.weight": (VOCAB, width),
           prefix + "embeddings.position_embeddings.weight": (c["max_position_embeddings"], width)}
    if "type_vocab_size" in c:
        out[prefix + "embeddings.token_type_embeddings.weight"] = (c["type_vocab_size"], width)

    def pair(name, *weight):
        out[name + ".weight"], out[name + ".bias"] = weight, (weight[0],)

    pair(prefix + "embeddings.LayerNorm", width)
    if has_projection(family, c):
        pair(PROJECTIONS[family], H, width)
    for names in layer_names(family, layers, parts, c):
        for part, name in names.items():
            size = {"up": (FFN, H), "down": (H, FFN), "norm1": (H,), "norm2": (H,)}.get(part, (H, H))
            pair(name, *size)
    if task == "mlm":
        dense, norm, bias = MASKED[family]
        pair(dense, width, H)
        pair(norm, width)
        out[bias] = (VOCAB,)
        return out
    if task != "tokens":
        pair(pooled, H, H)
    pair(top, LABELS, H)
    return out


def forward(w, batch, family, task, c):
    prefix, layers, parts, pooled, top = naming(family, task)
    width = c.get("embedding_size", H)

    def act(x, name=c.get("hidden_act", c.get("activation"))):
        return torch.nn.functional.gelu(x, approximate="none" if name == "gelu" else "tanh")

    def linear(x, name):
        return x @ w[name + ".weight"].T + w[name + ".bias"]

    def norm(x, name):
        return torch.nn.functional.layer_norm(x, (x.shape[-1],), w[name + ".weight"], w[name + ".bias"],
                                              c.get("layer_norm_eps", 1e-12))

    ids, mask = batch["input_ids"], batch["attention_mask"]
    rows, length = ids.shape
    embeddings = prefix + "embeddings."
    places = torch.arange(length).expand(rows, length)
    if family == "roberta":  # create_position_ids_from_input_ids; padding is at pad_token_id
        places = torch.cumsum(mask, 1) * mask + c["pad_token_id"]
    x = w[embeddings + "word_embeddings.weight"][ids] + w[embeddings + "position_embeddings.weight"][places]
    if "type_vocab_size" in c:
        types = batch.get("token_type_ids", torch.zeros_like(ids))
        x = x + w[embeddings + "token_type_embeddings.weight"][types]
    x = norm(x, embeddings + "LayerNorm")
    if has_projection(family, c):
        x = linear(x, PROJECTIONS[family])
    for part in layer_names(family, layers, parts, c):
        q, k, v = (linear(x, part[n]).view(rows, length, HEADS, H // HEADS).transpose(1, 2) for n in "qkv")
        scores = q @ k.transpose(2, 3) / math.sqrt(H // HEADS) + ((mask[:, None, None, :] - 1) * 1e9).to(q.dtype)
        y = linear((scores.softmax(-1) @ v).transpose(1, 2).reshape(rows, length, H), part["out"])
        x = norm(x + y, part["norm1"])
        x = norm(x + linear(act(linear(x, part["up"])), part["down"]), part["norm2"])
    if task == "mlm":
        dense, last, bias = MASKED[family]
        # RobertaLMHead and ElectraGeneratorPredictions have GELU whatever the file says.
        x = act(linear(x, dense), "gelu") if family in ("roberta", "electra") else act(linear(x, dense))
        return norm(x, last) @ w[embeddings + "word_embeddings.weight"].T + w[bias]
    if task == "tokens":
        return linear(x, top)
    first = linear(x[:, 0], pooled)
    first = {"electra": torch.nn.functional.gelu, "distilbert": torch.relu}.get(family, torch.tanh)(first)
    return linear(first, top)


HIDDEN = 4  # the token that hides another


def batches(family, task, c):
    """The label is the count of small tokens in a row, by thirds; rows are padded to their own lengths. For a token: the
    remainder of itself and the one before; the first, padding and some others have none. For a masked token: itself; one
    of ten is left as it is."""
    out = {}
    for step in range(common.STEPS):
        ids = torch.randint(2, VOCAB, (BATCH, SEQ))
        mask = (torch.arange(SEQ) < torch.randint(SEQ // 2, SEQ + 1, (BATCH, 1))).long()
        labels = ((ids < VOCAB // 2).long() * mask).sum(1) % LABELS
        if task and family == "roberta":  # padding has a position of its own there, and its logits are others
            mask = torch.ones_like(mask)
        if task == "tokens":
            labels = (ids + ids.roll(1, 1)) % LABELS
            labels[:, 0], labels[:, 7], labels[mask == 0] = -100, -100, -100
        if task == "mlm":
            chosen = (torch.rand(BATCH, SEQ) < 0.25) & (mask == 1)
            chosen[0, 0] |= not chosen.any()  # the loss of no token is NaN
            labels = torch.where(chosen, ids, torch.tensor(-100))
            ids = torch.where(chosen & (torch.rand(BATCH, SEQ) < 0.9), torch.tensor(HIDDEN), ids)
        step = f"step{step}."
        out[step + "input_ids"] = ids * mask + c["pad_token_id"] * (1 - mask)
        out[step + "attention_mask"], out[step + "labels"] = mask, labels
        if family in ("electra", "albert"):
            out[step + "token_type_ids"] = (torch.arange(SEQ) >= SEQ // 2).long() * mask
    return out


def make(family, folder, seed=2, changes=None, sizes=None, **drawn):
    """`changes`: of the family's config; `sizes`: of this module's BATCH, SEQ, VOCAB, H, LAYERS, HEADS, FFN, LABELS;
    `drawn`: deviation of the first weights, recipe."""
    globals().update(sizes or {})
    chosen = drawn.get("recipe") or common.PLAIN
    if family.endswith("_recipe"):
        family, chosen = family.removesuffix("_recipe"), common.OTHER
    family, _, task = family.partition("_")
    config = {**FAMILIES[family], **(changes or {})}
    made_for = {"tokens": "ForTokenClassification", "mlm": "ForMaskedLM"}.get(task, "ForSequenceClassification")
    config["architectures"] = [config["architectures"][0].replace("ForSequenceClassification", made_for)]
    family = family.removeprefix("xlm-")  # which names its tensors as RoBERTa does
    torch.set_num_threads(1)
    torch.manual_seed(seed)

    def loss_of(w, batch):
        logits = forward(w, batch, family, task, config)
        flat = logits.reshape(-1, logits.shape[-1])
        return logits, torch.nn.functional.cross_entropy(flat, batch["labels"].reshape(-1),
                                                         label_smoothing=chosen["smoothing"])

    weights = common.draw(shapes(family, task, config), drawn.get("deviation", 0.1))
    adapter = drawn["adapter"](weights) if drawn.get("adapter") else None
    common.train(folder, config, weights, batches(family, task, config), loss_of, chosen, adapter)


if __name__ == "__main__":
    make(*sys.argv[1:])
