#!/usr/bin/env python3
"""Trains a tiny relative of BERT whose layers, positions or heads are others: encoder_relatives.py FAMILY FOLDER. `./dev golden
FAMILY` calls it. FAMILY_tokens labels tokens, FAMILY_mlm says which tokens masks hide.

Written after transformers' modeling_esm.py, modeling_mpnet.py, modeling_modernbert.py, modeling_xlm_roberta_xl.py,
modeling_megatron_bert.py, modeling_roberta_prelayernorm.py, modeling_data2vec_text.py, modeling_rembert.py,
modeling_ernie.py, modeling_xlm.py, modeling_flaubert.py, modeling_roformer.py,
modeling_deberta.py and modeling_deberta_v2.py; gated.py, eurobert.py and embedding_gemma.py have some more."""
import math
import sys

import torch

import common
import deberta
import embedding_gemma
import eurobert
import gated

BATCH, SEQ, VOCAB, H, HEADS, FFN, LABELS = 4, 20, 32, 16, 4, 24, 3
HIDDEN = 4  # the token that hides another
NAMES = {str(i): f"LABEL_{i}" for i in range(LABELS)}
LABELLED = {"vocab_size": VOCAB, "id2label": NAMES, "label2id": {name: int(i) for i, name in NAMES.items()}}
BERT = {**LABELLED, "hidden_size": H, "num_hidden_layers": 2, "num_attention_heads": HEADS, "intermediate_size": FFN,
        "hidden_act": "gelu", "hidden_dropout_prob": 0.0, "attention_probs_dropout_prob": 0.0,
        "initializer_range": 0.1, "layer_norm_eps": 1e-5, "max_position_embeddings": 26, "pad_token_id": 1}
ROBERTA = {**BERT, "type_vocab_size": 1, "classifier_dropout": None, "position_embedding_type": "absolute"}
ESM = {**BERT, "model_type": "esm", "architectures": ["Esm"], "token_dropout": True, "mask_token_id": HIDDEN,
       "emb_layer_norm_before": False, "position_embedding_type": "rotary"}
del ESM["hidden_act"]
MODERN = {**LABELLED, "model_type": "modernbert", "architectures": ["ModernBert"], "hidden_size": H,
          "num_hidden_layers": 3, "num_attention_heads": HEADS, "intermediate_size": FFN, "hidden_activation": "gelu",
          "max_position_embeddings": 24, "initializer_range": 0.1, "norm_eps": 1e-5, "norm_bias": False,
          "pad_token_id": 1, "global_rope_theta": 1000.0, "local_rope_theta": 100.0, "attention_bias": False,
          "attention_dropout": 0.0, "global_attn_every_n_layers": 2, "local_attention": 7, "embedding_dropout": 0.0,
          "mlp_bias": False, "mlp_dropout": 0.0, "decoder_bias": True, "classifier_pooling": "cls",
          "classifier_dropout": 0.0, "classifier_bias": False, "classifier_activation": "gelu"}
XLM = {**LABELLED, "model_type": "xlm", "architectures": ["XLM"], "n_words": VOCAB, "emb_dim": H, "n_layers": 2,
       "n_heads": HEADS, "max_position_embeddings": 24, "pad_index": 2, "pad_token_id": 2, "gelu_activation": True,
       "layer_norm_eps": 1e-12, "init_std": 0.1, "dropout": 0.0, "attention_dropout": 0.0,
       "summary_first_dropout": 0.0, "summary_type": "first", "summary_use_proj": True,
       "summary_proj_to_labels": True, "sinusoidal_embeddings": False, "causal": False, "asm": False}
DEBERTA = {**BERT, "model_type": "deberta-v2", "architectures": ["DebertaV2"], "type_vocab_size": 0,
           "pad_token_id": 0, "relative_attention": True, "max_relative_positions": -1, "position_buckets": 4,
           "pos_att_type": ["p2c", "c2p"], "share_att_key": True, "norm_rel_ebd": "layer_norm",
           "position_biased_input": False, "pooler_hidden_size": H, "pooler_hidden_act": "gelu",
           "pooler_dropout": 0.0}
FAMILIES = {
    "esm": ESM,
    "esm_absolute": {**ESM, "position_embedding_type": "absolute", "emb_layer_norm_before": True,
                     "token_dropout": False},
    "mpnet": {**BERT, "model_type": "mpnet", "architectures": ["MPNet"], "relative_attention_num_buckets": 32},
    "modernbert": MODERN,
    "modernbert_mean": {**MODERN, "classifier_pooling": "mean", "norm_bias": True, "attention_bias": True,
                        "mlp_bias": True, "classifier_bias": True, "hidden_activation": "gelu_pytorch_tanh"},
    "xlm-roberta-xl": {**ROBERTA, "model_type": "xlm-roberta-xl", "architectures": ["XLMRobertaXL"]},
    "megatron-bert": {**BERT, "model_type": "megatron-bert", "architectures": ["MegatronBert"], "type_vocab_size": 2,
                      "pad_token_id": 0},
    "roberta-prelayernorm": {**ROBERTA, "model_type": "roberta-prelayernorm", "architectures": ["RobertaPreLayerNorm"]},
    "data2vec-text": {**ROBERTA, "model_type": "data2vec-text", "architectures": ["Data2VecText"]},
    "rembert": {**BERT, "model_type": "rembert", "architectures": ["RemBert"], "type_vocab_size": 2, "pad_token_id": 0,
                "input_embedding_size": 12, "output_embedding_size": 20, "classifier_dropout_prob": 0.0},
    "ernie": {**BERT, "model_type": "ernie", "architectures": ["Ernie"], "type_vocab_size": 2, "pad_token_id": 0,
              "use_task_id": True, "task_type_vocab_size": 3, "classifier_dropout": None},
    "roformer": {**BERT, "model_type": "roformer", "architectures": ["RoFormer"], "type_vocab_size": 2,
                 "pad_token_id": 0, "embedding_size": 12, "rotary_value": False},
    "deberta": {**{key: DEBERTA[key] for key in DEBERTA.keys() - {"position_buckets", "share_att_key", "norm_rel_ebd"}},
                "model_type": "deberta", "architectures": ["Deberta"]},
    "deberta-v2": DEBERTA,
    "deberta-v2_conv": {**DEBERTA, "conv_kernel_size": 5, "conv_act": "gelu"},
    "deberta-v2_apart": {**DEBERTA, "share_att_key": False, "norm_rel_ebd": "none", "position_biased_input": True,
                         "type_vocab_size": 2, "position_buckets": -1, "max_relative_positions": 7},
    "xlm": XLM,
    "flaubert": {**XLM, "model_type": "flaubert", "architectures": ["Flaubert"], "pre_norm": True, "layerdrop": 0.0,
                 "gelu_activation": False},
}
FAMILIES |= gated.families(BERT, LABELLED, H, HEADS) | eurobert.families(LABELLED, H, HEADS, FFN)
FAMILIES |= embedding_gemma.families(LABELLED, H, HEADS, FFN)
FIRST = {"norms_first": True}  # a layer's norms are those of its parts' inputs
CLS = {"pooled": "pooler.dense", "top": "classifier", "lm": ("cls.predictions.transform.dense",
       "cls.predictions.transform.LayerNorm", "cls.predictions.bias")}
OUT_PROJ = {"pooled": "classifier.dense", "top": "classifier.out_proj",
            "lm": ("lm_head.dense", "lm_head.layer_norm", "lm_head.bias")}
# The differences of each: names behind its prefix, and traits.
KINDS = {
    "esm": {**OUT_PROJ, **FIRST, "prefix": "esm.", "norm": "embeddings.layer_norm", "norm1": "attention.LayerNorm",
            "norm2": "LayerNorm", "last": "encoder.emb_layer_norm_after"},
    "mpnet": {**OUT_PROJ, "prefix": "mpnet.", "norm": "embeddings.LayerNorm", "norm1": "attention.LayerNorm",
              "norm2": "output.LayerNorm", "qkvo": "attention.attn.{}", "biases": "encoder.relative_attention_bias"},
    "xlm-roberta-xl": {**OUT_PROJ, **FIRST, "prefix": "roberta.", "norm1": "attention.self_attn_layer_norm",
                       "norm2": "LayerNorm", "last": "encoder.LayerNorm"},
    "megatron-bert": {**CLS, **FIRST, "prefix": "bert.", "norm1": "attention.ln", "norm2": "ln", "last": "encoder.ln"},
    "roberta-prelayernorm": {**OUT_PROJ, **FIRST, "prefix": "roberta_prelayernorm.", "norm": "embeddings.LayerNorm",
                             "norm1": "attention.LayerNorm", "norm2": "intermediate.LayerNorm", "last": "LayerNorm"},
    "data2vec-text": {**OUT_PROJ, "prefix": "data2vec_text.", "norm": "embeddings.LayerNorm",
                      "norm1": "attention.output.LayerNorm", "norm2": "output.LayerNorm"},
    "rembert": {**CLS, "prefix": "rembert.", "norm": "embeddings.LayerNorm", "norm1": "attention.output.LayerNorm",
                "norm2": "output.LayerNorm", "projection": "encoder.embedding_hidden_mapping_in",
                "lm": ("cls.predictions.dense", "cls.predictions.LayerNorm", "cls.predictions.decoder.bias")},
    "ernie": {**CLS, "prefix": "ernie.", "norm": "embeddings.LayerNorm", "norm1": "attention.output.LayerNorm",
              "norm2": "output.LayerNorm"},
    "roformer": {**CLS, "pooled": "classifier.dense", "top": "classifier.out_proj", "prefix": "roformer.",
                 "norm": "embeddings.LayerNorm", "norm1": "attention.output.LayerNorm", "norm2": "output.LayerNorm",
                 "projection": "embeddings_project"},
    "deberta-v2": {**CLS, "prefix": "deberta.", "norm": "embeddings.LayerNorm",
                   "norm1": "attention.output.LayerNorm", "norm2": "output.LayerNorm",
                   "own": "attention.self.{}_proj", "spots": "encoder.rel_embeddings"},
    "deberta": {**CLS, "prefix": "deberta.", "norm": "embeddings.LayerNorm", "norm1": "attention.output.LayerNorm",
                "norm2": "output.LayerNorm", "spots": "encoder.rel_embeddings"},
    "modernbert": {**FIRST, "prefix": "model.", "norm": "embeddings.norm", "last": "final_norm", "pooled": "head.dense",
                   "top": "classifier", "lm": ("head.dense", "head.norm", "decoder.bias")},
    "xlm": {"prefix": "transformer.", "norm": "layer_norm_emb", "top": "sequence_summary.summary",
            "lm": (None, None, "pred_layer.proj.bias")},
}
KINDS |= {name: {**CLS, **kind} for name, kind in gated.KINDS.items()}
KINDS["flaubert"] = {**KINDS["xlm"], **FIRST}


def layer_names(kind, i, modern, xlm):
    """The parts of layer i."""
    k = kind
    if xlm:
        parts = {"q": "attentions.{}.q_lin", "k": "attentions.{}.k_lin", "v": "attentions.{}.v_lin",
                 "o": "attentions.{}.out_lin", "norm1": "layer_norm1.{}", "up": "ffns.{}.lin1", "down": "ffns.{}.lin2",
                 "norm2": "layer_norm2.{}"}
        return {part: k["prefix"] + name.format(i) for part, name in parts.items()}
    if modern:
        parts = {"qkv": "attn.Wqkv", "o": "attn.Wo", "norm1": "attn_norm", "up": "mlp.Wi", "down": "mlp.Wo",
                 "norm2": "mlp_norm"}
        return {part: f"{k['prefix']}layers.{i}.{name}" for part, name in parts.items()}
    own = k.get("own", "attention.self.{}")
    parts = {"q": own.format("query"), "k": own.format("key"), "v": own.format("value"), "o": "attention.output.dense",
             "norm1": k["norm1"], "up": "intermediate.dense", "down": "output.dense", "norm2": k["norm2"]}
    if k["prefix"] == "deberta." and "own" not in k:  # they are in one tensor
        parts = {part: name for part, name in parts.items() if part not in "qkv"}
    if "qkvo" in k:
        parts.update({part: k["qkvo"].format(part) for part in "qkvo"})
    return {part: f"{k['prefix']}encoder.layer.{i}.{name}" for part, name in parts.items()}


class Model:
    """A relative with the shapes of its weights and its forward pass."""

    def __init__(self, family, task, c):
        self.kind, self.task, self.c = KINDS[c["model_type"]], task, c
        self.modern, self.xlm = c["model_type"] == "modernbert", "emb_dim" in c
        self.pairs = c["model_type"] == "roformer"  # neighbours turn
        self.gated = c["model_type"] in gated.NAMES
        self.rotary = self.modern or self.pairs or self.gated or c.get("position_embedding_type") == "rotary"
        self.after_pad = self.kind.get("pooled") == "classifier.dense" and not self.rotary
        self.eps = c.get("layer_norm_eps", c.get("norm_eps", c.get("layer_norm_epsilon")))
        layers = c.get("num_hidden_layers", c.get("n_layers", c.get("n_layer")))
        self.fused = self.modern or self.gated
        self.layers = [gated.names(c["model_type"], i) if self.gated else
                       layer_names(self.kind, i, self.modern, self.xlm) for i in range(layers)]
        prefix = self.kind["prefix"]
        self.tokens = prefix + ("embeddings" if self.xlm else
                                "embeddings.tok_embeddings" if self.modern else "embeddings.word_embeddings")
        self.spots = prefix + self.kind["spots"] if "spots" in self.kind else None
        bare = self.rotary or not c.get("position_biased_input", True)
        self.places = None if bare else prefix + ("" if self.xlm else "embeddings.") + "position_embeddings"
        has_norm = c.get("emb_layer_norm_before", True) and "norm" in self.kind
        self.norm_name = prefix + self.kind["norm"] if has_norm else None
        self.last = prefix + self.kind["last"] if "last" in self.kind else None
        self.lm = self.kind["lm"]
        pooled = self.kind.get("pooled")
        self.pooled = pooled if not pooled or pooled[0] in "ch" or self.spots else prefix + pooled
        self.top = "classifier" if task == "tokens" else self.kind["top"]

    def head_shapes(self, pair, out, width):
        c, modern = self.c, self.modern
        if modern:
            pair("head.dense", H, H, bias=c["classifier_bias"])
            pair("head.norm", H, bias=c["norm_bias"])
        if self.task == "mlm":
            size = c.get("output_embedding_size", width)
            if c.get("mlp_fc1_bias", True):
                out[self.lm[2]] = (VOCAB,)
            if "output_embedding_size" in c:
                out["cls.predictions.decoder.weight"] = (VOCAB, size)
            if self.lm[0] and not modern:
                pair(self.lm[0], size, H, bias=c.get("mlp_fc1_bias", True))
                pair(self.lm[1], size)
            return
        if self.pooled and not modern and self.task != "tokens":
            pair(self.pooled, H, H)
        pair(self.top, LABELS, H)

    def shapes(self):
        c, out, prefix = self.c, {}, self.kind["prefix"]
        width, ffn = c.get("input_embedding_size", c.get("embedding_size", H)), 4 * H if self.xlm else FFN

        def pair(name, *weight, bias=True):
            out[name + ".weight"] = weight
            if bias:
                out[name + ".bias"] = (weight[0],)

        out[self.tokens + ".weight"] = (VOCAB, width)
        if self.places:
            out[self.places + ".weight"] = (c["max_position_embeddings"], width)
        if c.get("type_vocab_size"):
            out[prefix + "embeddings.token_type_embeddings.weight"] = (c["type_vocab_size"], width)
        if c.get("use_task_id"):
            out[prefix + "embeddings.task_type_embeddings.weight"] = (c["task_type_vocab_size"], width)
        if self.norm_name:
            pair(self.norm_name, width, bias=c.get("norm_bias", True))
        if "projection" in self.kind:
            pair(prefix + self.kind["projection"], H, width)
        if "biases" in self.kind:
            out[prefix + self.kind["biases"] + ".weight"] = (32, HEADS)
        if self.spots:
            deberta.table_shapes(self, out, pair)
        ffn = c.get("n_inner", ffn)
        both = self.modern or (self.gated and "n_inner" not in c)
        sizes = {"qkv": (3 * H, H), "up": ((2 if both else 1) * ffn, H), "gate": (ffn, H), "down": (H, ffn),
                 "norm1": (H,), "norm2": (H,)}
        c = gated.biases(c) if self.gated else c
        for i, names in enumerate(self.layers):
            for part, name in names.items():
                key = "mlp_bias" if part in ("up", "gate", "down") else "norm_bias" if "norm" in part else "attention_bias"
                key = "down_bias" if self.gated and part == "down" else key
                if not (self.modern and i == 0 and part == "norm1"):
                    pair(name, *sizes.get(part, (H, H)), bias=c.get(key, True))
            if self.spots:
                deberta.layer_shapes(self, out, pair, i)
        if self.last:
            pair(self.last, H, bias=c.get("norm_bias", True))
        self.head_shapes(pair, out, width)
        return out

    # ---- forward

    def linear(self, x, name):
        y = x @ self.w[name + ".weight"].T
        return y + self.w[name + ".bias"] if name + ".bias" in self.w else y

    def norm(self, x, name):
        return torch.nn.functional.layer_norm(x, (x.shape[-1],), self.w[name + ".weight"], self.w.get(name + ".bias"),
                                              self.eps)

    def act(self, x):
        name = self.c.get("hidden_activation", self.c.get("hidden_act", "gelu"))
        if self.c.get("activation_function") == "swiglu":
            return torch.nn.functional.silu(x)
        if not self.c.get("gelu_activation", True):
            return torch.relu(x)
        return torch.nn.functional.gelu(x, approximate="none" if name == "gelu" else "tanh")

    def embed(self, batch):
        c, w, prefix = self.c, self.w, self.kind["prefix"]
        ids, mask = batch["input_ids"], batch["attention_mask"]
        x = w[self.tokens + ".weight"][ids]
        if c.get("token_dropout"):
            x = x.masked_fill((ids == c["mask_token_id"])[..., None], 0.0)
            share = (ids == c["mask_token_id"]).sum(-1) / mask.sum(-1)
            x = (x * (1 - 0.15 * 0.8) / (1 - share)[:, None, None] * mask[..., None]).to(x.dtype)
        if c.get("type_vocab_size"):
            types = batch.get("token_type_ids", torch.zeros_like(ids))
            x = x + w[prefix + "embeddings.token_type_embeddings.weight"][types]
        if self.places:
            places = torch.arange(ids.shape[1]).expand(ids.shape)
            if self.after_pad:  # create_position_ids_from_input_ids; padding is at pad_token_id
                places = torch.cumsum(mask, 1) * mask + c["pad_token_id"]
            x = x + w[self.places + ".weight"][places]
        if c.get("use_task_id"):
            x = x + w[prefix + "embeddings.task_type_embeddings.weight"][torch.zeros_like(ids)]
        if self.norm_name:
            x = self.norm(x, self.norm_name)
        return self.linear(x, prefix + self.kind["projection"]) if "projection" in self.kind else x

    def rotated(self, x, theta):
        half = x.shape[-1] // 2
        turns = torch.tensor(gated.turns(self.c, theta, half), dtype=torch.float64)
        angles = torch.outer(torch.arange(x.shape[2]).double(), turns)
        if self.pairs:
            cos, sin = angles.cos().to(x.dtype), angles.sin().to(x.dtype)
            a, b = x[..., 0::2], x[..., 1::2]
            return torch.stack((a * cos - b * sin, b * cos + a * sin), -1).flatten(-2)
        angles = torch.cat((angles, angles), -1)
        turned = torch.cat((-x[..., half:], x[..., :half]), -1)
        return x * angles.cos().to(x.dtype) + turned * angles.sin().to(x.dtype)

    def added(self, mask, local, kind):
        """The terms that are added to the scores."""
        length = mask.shape[1]
        distance = torch.arange(length)[None, :] - torch.arange(length)[:, None]
        seen = mask[:, None, None, :].expand(-1, 1, length, length)
        if local:
            seen = seen * (distance.abs() <= self.c["local_attention"] // 2)
        out = ((seen - 1) * 1e9).to(kind)
        if "biases" in self.kind:
            table = self.w[self.kind["prefix"] + self.kind["biases"] + ".weight"]
            out = out + table[bucket(distance)].permute(2, 0, 1)[None]
        return out

    def attention(self, x, names, mask, number):
        rows, length, _ = x.shape
        parts = self.linear(x, names["qkv"]).chunk(3, -1) if self.fused else (
            deberta.projections(self, x, number) if self.c["model_type"] == "deberta" else
            (self.linear(x, names[n]) for n in "qkv"))
        q, k, v = (part.view(rows, length, HEADS, H // HEADS).transpose(1, 2) for part in parts)
        local = self.modern and number % self.c["global_attn_every_n_layers"] != 0
        if self.rotary:
            bases = [self.c[key] for key in ("global_rope_theta", "rope_theta", "rotary_emb_base") if key in self.c]
            theta = self.c["local_rope_theta"] if local else [*bases, 10000.0][0]
            q, k = self.rotated(q, theta), self.rotated(k, theta)
        scores = q @ k.transpose(2, 3) / math.sqrt((3 if self.spots else 1) * H // HEADS)
        scores = scores + self.added(mask, local, q.dtype)
        if self.spots:
            scores = scores + deberta.scores(self, q, k, names, number)
        return self.linear((scores.softmax(-1) @ v).transpose(1, 2).reshape(rows, length, H), names["o"])

    def mlp(self, x, names):
        y = self.linear(x, names["up"])
        if self.gated:
            y, gate = (y, self.linear(x, names["gate"])) if "gate" in names else y.chunk(2, -1)
            return self.linear(y * self.act(gate), names["down"])
        if not self.modern:
            return self.linear(self.act(y), names["down"])
        read, gate = y.chunk(2, -1)
        return self.linear(self.act(read) * gate, names["down"])

    def forward(self, w, batch):
        self.w = w
        x, mask = self.embed(batch), batch["attention_mask"]
        first = x
        for i, names in enumerate(self.layers):
            if "norms_first" in self.kind and (self.kind is not KINDS["flaubert"] or self.c["pre_norm"]):
                y = x if self.modern and i == 0 else self.norm(x, names["norm1"])
                x = x + self.attention(y, names, mask, i)
                x = x + self.mlp(self.norm(x, names["norm2"]), names)
            else:
                x = self.norm(x + self.attention(x, names, mask, i), names["norm1"])
                x = self.norm(x + self.mlp(x, names), names["norm2"])
            if i == 0 and self.c.get("conv_kernel_size"):
                x = deberta.with_neighbours(self, x, first * mask[..., None].to(x.dtype))
        return self.head(self.norm(x, self.last) if self.last else x, mask)

    def head(self, x, mask):
        gelu = torch.nn.functional.gelu
        if self.task == "mlm":
            dense, norm, bias = self.lm
            gelu = self.act if self.kind["top"] == "classifier" and not self.modern else gelu  # as BERT's
            x = self.norm(gelu(self.linear(x, dense)), norm) if dense else x
            return x @ self.w.get("cls.predictions.decoder.weight", self.w[self.tokens + ".weight"]).T + (
                self.w.get(bias, 0))
        if self.task != "tokens":
            some = (x * mask[..., None]).sum(1) / mask.sum(1)[:, None]
            x = some.to(x.dtype) if self.c.get("classifier_pooling") == "mean" else x[:, 0]
        if self.modern:
            x = self.norm(gelu(self.linear(x, "head.dense")), "head.norm")
        elif self.pooled and self.task != "tokens":
            x = (gelu if self.pairs or self.spots else torch.tanh)(self.linear(x, self.pooled))
        return self.linear(x, self.top)


def bucket(distance):
    """relative_position_bucket(), of 32 buckets and a distance of 128."""
    far = 8 + (torch.log(distance.abs().float().clamp_min(1) / 8) / math.log(128 / 8) * 8).long()
    return (distance > 0).long() * 16 + torch.where(distance.abs() < 8, distance.abs(), far.clamp(max=15))


def batches(model):
    """As encoder.py has them. Where padding is computed otherwise and its logits would be compared, rows are full."""
    out, c = {}, model.c
    for step in range(common.STEPS):
        ids = torch.randint(5, VOCAB, (BATCH, SEQ))
        mask = (torch.arange(SEQ) < torch.randint(SEQ // 2, SEQ + 1, (BATCH, 1))).long()
        if model.task and (model.after_pad or model.xlm or model.modern):
            mask = torch.ones_like(mask)
        labels = ((ids < VOCAB // 2).long() * mask).sum(1) % LABELS
        if model.task == "tokens":
            labels = (ids + ids.roll(1, 1)) % LABELS
            labels[:, 0], labels[:, 7], labels[mask == 0] = -100, -100, -100
        chosen = (torch.rand(BATCH, SEQ) < 0.25) & (mask == 1)
        if model.task == "mlm":
            chosen[0, 0] |= not chosen.any()  # the loss of no token is NaN
            labels = torch.where(chosen, ids, torch.tensor(-100))
        if model.task == "mlm" or c.get("token_dropout"):
            ids = torch.where(chosen & (torch.rand(BATCH, SEQ) < 0.9), torch.tensor(HIDDEN), ids)
        step = f"step{step}."
        out[step + "input_ids"] = ids * mask + c["pad_token_id"] * (1 - mask)
        out[step + "attention_mask"], out[step + "labels"] = mask, labels
        if c.get("type_vocab_size", 1) > 1:
            out[step + "token_type_ids"] = (torch.arange(SEQ) >= SEQ // 2).long() * mask
    return out


def make(family, folder, seed=3, changes=None, sizes=None, **drawn):
    """`changes`: of the family's config; `sizes`: of this module's BATCH, SEQ, VOCAB, H, HEADS, FFN, LABELS; `drawn`:
    deviation of the first weights, recipe."""
    globals().update(sizes or {})
    chosen = drawn.get("recipe") or common.PLAIN
    task = family.rpartition("_")[2] if family.endswith(("_mlm", "_tokens")) else ""
    family = family.removesuffix("_" + task) if task else family
    config = {**FAMILIES[family], **(changes or {})}
    masked = "WithLMHeadModel" if "emb_dim" in config else "ForMaskedLM"
    made_for = {"tokens": "ForTokenClassification", "mlm": masked}.get(task, "ForSequenceClassification")
    config["architectures"] = [config["architectures"][0] + made_for]
    torch.set_num_threads(1)
    torch.manual_seed(seed)
    kinds = {"eurobert": eurobert.Model, "gemma3_text": embedding_gemma.Model}
    model = kinds.get(config["model_type"], Model)(family, task, config)

    def loss_of(w, batch):
        logits = model.forward(w, batch)
        flat = logits.reshape(-1, logits.shape[-1])
        return logits, torch.nn.functional.cross_entropy(flat, batch["labels"].reshape(-1),
                                                         label_smoothing=chosen["smoothing"])

    weights = common.draw(model.shapes(), drawn.get("deviation", 0.1))
    adapter = drawn["adapter"](weights) if drawn.get("adapter") else None
    common.train(folder, config, weights, batches(model), loss_of, chosen, adapter)


if __name__ == "__main__":
    make(*sys.argv[1:])
