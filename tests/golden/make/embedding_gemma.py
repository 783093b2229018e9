"""EmbeddingGemma, for encoder_relatives.py. Written after transformers' modeling_gemma3.py, with
use_bidirectional_attention, and the mean of a text's tokens, as its publishers' sentence-transformers take it."""
import math

import torch
from torch.nn import functional

import eurobert

PARTS = {"q_norm": "self_attn.q_norm", "k_norm": "self_attn.k_norm", "behind1": "post_attention_layernorm",
         "norm2": "pre_feedforward_layernorm", "behind2": "post_feedforward_layernorm"}


def families(labelled, width, heads, inner):
    return {"embedding_gemma": {
        **labelled, "model_type": "gemma3_text", "architectures": ["Gemma3Text"], "hidden_size": width,
        "num_hidden_layers": 3, "num_attention_heads": heads, "num_key_value_heads": heads // 2,
        "head_dim": width // heads, "intermediate_size": inner, "hidden_activation": "gelu_pytorch_tanh",
        "max_position_embeddings": 24, "initializer_range": 0.1, "rms_norm_eps": 1e-5, "rope_theta": 1000.0,
        "rope_local_base_freq": 100.0, "query_pre_attn_scalar": 6, "sliding_window": 7, "attention_bias": False,
        "layer_types": ["sliding_attention", "full_attention", "sliding_attention"], "attention_dropout": 0.0,
        "pad_token_id": 1, "use_bidirectional_attention": True}}


class Model(eurobert.Model):
    """Layers with norms around their parts; all but one in a few see near tokens alone."""

    def __init__(self, family, task, c):
        super().__init__(family, task, c)
        for i, names in enumerate(self.layers):
            names.update({part: f"model.layers.{i}.{name}" for part, name in PARTS.items()}, number=i)

    def shapes(self):
        c = self.c
        h, ffn, labels, size = c["hidden_size"], c["intermediate_size"], len(c["id2label"]), c["head_dim"]
        keys = size * c["num_key_value_heads"]
        sizes = {"q": (h, h), "k": (keys, h), "v": (keys, h), "o": (h, h), "gate": (ffn, h), "up": (ffn, h),
                 "down": (h, ffn), "q_norm": (size,), "k_norm": (size,)}
        out = {"model.embed_tokens.weight": (c["vocab_size"], h)}
        for names in self.layers:
            for part, name in names.items():
                if part == "number":
                    continue
                out[name + ".weight"] = sizes.get(part, (h,))
                if part in "qkvo" and c["attention_bias"]:
                    out[name + ".bias"] = sizes[part][:1]
        return {**out, "model.norm.weight": (h,), "score.weight": (labels, h), "score.bias": (labels,)}

    def norm(self, x, name):
        return x * torch.rsqrt(x.pow(2).mean(-1, keepdim=True) + self.c["rms_norm_eps"]) * (1 + self.w[name + ".weight"])

    def attention(self, x, names, mask):
        (rows, length, _), c = x.shape, self.c
        q, k, v = (self.linear(x, names[part]).view(rows, length, -1, c["head_dim"]).transpose(1, 2) for part in "qkv")
        q, k = self.norm(q, names["q_norm"]), self.norm(k, names["k_norm"])
        seen, near = mask[:, None, None, :], c["layer_types"][names["number"]] == "sliding_attention"
        if near:
            place = torch.arange(length)
            seen = seen * ((place[:, None] - place).abs() < c["sliding_window"] // 2 + 1)
        self.c = {**c, "rope_theta": c["rope_local_base_freq" if near else "rope_theta"]}
        q, k = self.rotated(q), self.rotated(k)
        self.c = c
        k, v = (t.repeat_interleave(q.shape[1] // k.shape[1], 1) for t in (k, v))
        scores = q @ k.transpose(2, 3) / math.sqrt(c["query_pre_attn_scalar"])
        scores = scores + ((seen - 1) * 1e9).to(scores.dtype)
        return self.linear((scores.softmax(-1) @ v).transpose(1, 2).reshape(rows, length, -1), names["o"])

    def forward(self, w, batch):
        self.w = w
        x, mask = w["model.embed_tokens.weight"][batch["input_ids"]], batch["attention_mask"]
        x = x * math.sqrt(x.shape[-1])
        for names in self.layers:
            x = x + self.norm(self.attention(self.norm(x, names["norm1"]), names, mask), names["behind1"])
            y = self.norm(x, names["norm2"])
            y = functional.gelu(self.linear(y, names["gate"]), approximate="tanh") * self.linear(y, names["up"])
            x = x + self.norm(self.linear(y, names["down"]), names["behind2"])
        x = self.norm(x, "model.norm")
        if self.task != "tokens":
            x = ((x * mask[..., None]).sum(1) / mask.sum(1)[:, None]).to(x.dtype)
        return self.linear(x, "score")
