"""EuroBERT, for encoder_relatives.py. Written after transformers' modeling_eurobert.py."""
import math

import torch
from torch.nn import functional

PARTS = {"q": "self_attn.q_proj", "k": "self_attn.k_proj", "v": "self_attn.v_proj", "o": "self_attn.o_proj",
         "gate": "mlp.gate_proj", "up": "mlp.up_proj", "down": "mlp.down_proj", "norm1": "input_layernorm",
         "norm2": "post_attention_layernorm"}


def families(labelled, width, heads, inner):
    base = {**labelled, "model_type": "eurobert", "architectures": ["EuroBert"], "hidden_size": width,
            "num_hidden_layers": 2, "num_attention_heads": heads, "num_key_value_heads": heads // 2,
            "intermediate_size": inner, "hidden_act": "silu", "max_position_embeddings": 24, "initializer_range": 0.1,
            "rms_norm_eps": 1e-5, "rope_theta": 1000.0, "attention_bias": False, "attention_dropout": 0.0,
            "mlp_bias": False, "pad_token_id": 1, "mask_token_id": 4, "tie_word_embeddings": False,
            "clf_pooling": "late"}
    return {"eurobert": base, "eurobert_mean": {**base, "clf_pooling": "mean", "attention_bias": True}}


class Model:
    """Its weights' shapes and its forward pass; as encoder_relatives.Model."""

    def __init__(self, family, task, c):
        self.c, self.task, self.after_pad, self.xlm, self.modern = c, task, False, False, True
        self.layers = [{part: f"model.layers.{i}.{name}" for part, name in PARTS.items()}
                       for i in range(c["num_hidden_layers"])]

    def shapes(self):
        c = self.c
        h, ffn, labels = c["hidden_size"], c["intermediate_size"], len(c["id2label"])
        keys = h // c["num_attention_heads"] * c["num_key_value_heads"]
        sizes = {"q": (h, h), "k": (keys, h), "v": (keys, h), "o": (h, h), "gate": (ffn, h), "up": (ffn, h),
                 "down": (h, ffn), "norm1": (h,), "norm2": (h,)}
        out = {"model.embed_tokens.weight": (c["vocab_size"], h)}
        for names in self.layers:
            for part, name in names.items():
                out[name + ".weight"] = sizes[part]
                if part in "qkvo" and c["attention_bias"]:
                    out[name + ".bias"] = sizes[part][:1]
        out["model.norm.weight"] = (h,)
        if self.task == "mlm":
            return {**out, "lm_head.weight": (c["vocab_size"], h)}
        heads = {"classifier": (labels, h)} if self.task == "tokens" else {"dense": (h, h), "out_proj": (labels, h)}
        for name, shape in heads.items():
            out[name + ".weight"], out[name + ".bias"] = shape, shape[:1]
        return out

    def linear(self, x, name):
        return functional.linear(x, self.w[name + ".weight"], self.w.get(name + ".bias"))

    def norm(self, x, name):
        return x * torch.rsqrt(x.pow(2).mean(-1, keepdim=True) + self.c["rms_norm_eps"]) * self.w[name + ".weight"]

    def rotated(self, x):
        half = x.shape[-1] // 2
        turns = self.c["rope_theta"] ** (-torch.arange(half).double() / half)
        angles = torch.outer(torch.arange(x.shape[2]).double(), turns)
        cos, sin = (torch.cat((t, t), -1).to(x.dtype) for t in (angles.cos(), angles.sin()))
        return x * cos + torch.cat((-x[..., half:], x[..., :half]), -1) * sin

    def attention(self, x, names, mask):
        rows, length, _ = x.shape
        size = self.c["hidden_size"] // self.c["num_attention_heads"]
        q, k, v = (self.linear(x, names[part]).view(rows, length, -1, size).transpose(1, 2) for part in "qkv")
        k, v = (t.repeat_interleave(q.shape[1] // k.shape[1], 1) for t in (self.rotated(k), v))
        scores = self.rotated(q) @ k.transpose(2, 3) / math.sqrt(size)
        scores = scores + ((mask[:, None, None, :] - 1) * 1e9).to(scores.dtype)
        return self.linear((scores.softmax(-1) @ v).transpose(1, 2).reshape(rows, length, -1), names["o"])

    def forward(self, w, batch):
        self.w = w
        x, mask = w["model.embed_tokens.weight"][batch["input_ids"]], batch["attention_mask"]
        for names in self.layers:
            x = x + self.attention(self.norm(x, names["norm1"]), names, mask)
            y = self.norm(x, names["norm2"])
            y = functional.silu(self.linear(y, names["gate"])) * self.linear(y, names["up"])
            x = x + self.linear(y, names["down"])
        return self.head(self.norm(x, "model.norm"), mask)

    def head(self, x, mask):
        def mean(y):
            return ((y * mask[..., None]).sum(1) / mask.sum(1)[:, None]).to(y.dtype)

        if self.task == "mlm":
            return self.linear(x, "lm_head")
        if self.task == "tokens":
            return self.linear(x, "classifier")
        how = self.c["clf_pooling"]
        x = mean(x) if how == "mean" else x[:, 0] if how == "bos" else x
        logits = self.linear(functional.gelu(self.linear(x, "dense")), "out_proj")
        return mean(logits) if how == "late" else logits
