#!/usr/bin/env python3
"""Trains a tiny BART: bart.py FAMILY FOLDER. `./dev golden FAMILY` calls it.

Written after transformers' modeling_bart.py, modeling_mbart.py, modeling_marian.py, modeling_pegasus.py,
modeling_m2m_100.py, modeling_blenderbot.py, modeling_plbart.py and modeling_whisper.py. Stacks of
different depth, targets that are shorter than the sources, padded to their own lengths."""
import json
import math
import pathlib
import sys

import torch

import common

BATCH, READ, WRITTEN, VOCAB = 4, 20, 12, 32
BASE = {"vocab_size": VOCAB, "d_model": 16, "encoder_layers": 2, "decoder_layers": 2, "encoder_attention_heads": 4,
        "decoder_attention_heads": 4, "encoder_ffn_dim": 24, "decoder_ffn_dim": 24, "max_position_embeddings": 24,
        "activation_function": "gelu", "dropout": 0.0, "attention_dropout": 0.0, "activation_dropout": 0.0,
        "init_std": 0.1, "scale_embedding": False, "is_encoder_decoder": True, "pad_token_id": 1, "eos_token_id": 2,
        "decoder_start_token_id": 2}
FAMILIES = {
    "bart": {**BASE, "model_type": "bart", "architectures": ["BartForConditionalGeneration"], "forced_bos_token_id": 0,
             "encoder_layers": 3},
    "mbart": {**BASE, "model_type": "mbart", "architectures": ["MBartForConditionalGeneration"],
              "scale_embedding": True, "activation_function": "relu", "decoder_start_token_id": 5},
    "marian": {**BASE, "model_type": "marian", "architectures": ["MarianMTModel"], "scale_embedding": True,
               "activation_function": "swish", "pad_token_id": 31, "eos_token_id": 0, "decoder_start_token_id": 31,
               "bad_words_ids": [[31]], "d_model": 20},
    "pegasus": {**BASE, "model_type": "pegasus", "architectures": ["PegasusForConditionalGeneration"],
                "scale_embedding": True, "activation_function": "relu", "pad_token_id": 0, "eos_token_id": 1,
                "decoder_start_token_id": 0, "encoder_layers": 3},
    "m2m_100": {**BASE, "model_type": "m2m_100", "architectures": ["M2M100ForConditionalGeneration"],
                "scale_embedding": True, "activation_function": "relu", "encoder_layers": 3},
    "blenderbot": {**BASE, "model_type": "blenderbot", "architectures": ["BlenderbotForConditionalGeneration"],
                   "scale_embedding": True, "decoder_layers": 3, "pad_token_id": 0, "decoder_start_token_id": 1},
    "plbart": {**BASE, "model_type": "plbart", "architectures": ["PLBartForConditionalGeneration"],
               "scale_embedding": True},
    "whisper": {**{key: value for key, value in BASE.items() if key != "max_position_embeddings"},
                "model_type": "whisper", "architectures": ["WhisperForConditionalGeneration"], "num_mel_bins": 6,
                "max_source_positions": READ, "max_target_positions": 24, "pad_token_id": 0,
                "decoder_start_token_id": 1, "eos_token_id": 2},
}
FIRST = ("mbart", "pegasus", "m2m_100", "blenderbot", "whisper")  # norms of a part's input
WAVES = ("marian", "pegasus", "m2m_100")  # positions are sines and cosines


def first_row(c):
    """BartLearnedPositionalEmbedding's offset, which Blenderbot's and Whisper's have not."""
    return 0 if c["model_type"] in ("blenderbot", "whisper") else 2


def hears(c):
    return c["model_type"] == "whisper"


def table_of(c):
    return "model.decoder.embed_tokens.weight" if hears(c) else "model.shared.weight"


def shapes(c):
    h, out = c["d_model"], {table_of(c): (c["vocab_size"], c["d_model"])}

    def pair(name, *weight):
        out[name + ".weight"], out[name + ".bias"] = weight, (weight[0],)

    if hears(c):
        pair("model.encoder.conv1", h, c["num_mel_bins"], 3)
        pair("model.encoder.conv2", h, h, 3)
    for stack in ("encoder", "decoder"):
        p = f"model.{stack}."
        if c["model_type"] not in WAVES and not (hears(c) and stack == "encoder"):
            positions = c["max_target_positions" if hears(c) else "max_position_embeddings"]
            out[p + "embed_positions.weight"] = (positions + first_row(c), h)
        if c["model_type"] not in (*WAVES, "blenderbot", "whisper"):
            pair(p + "layernorm_embedding", h)
        for i in range(c[stack + "_layers"]):
            layer = f"{p}layers.{i}."
            for part in ["self_attn"] + (["encoder_attn"] if stack == "decoder" else []):
                for name in ("q_proj", "k_proj", "v_proj", "out_proj"):
                    pair(f"{layer}{part}.{name}", h, h)
                    if hears(c) and name == "k_proj":
                        del out[f"{layer}{part}.{name}.bias"]
                pair(f"{layer}{part}_layer_norm", h)
            pair(layer + "fc1", c[stack + "_ffn_dim"], h)
            pair(layer + "fc2", h, c[stack + "_ffn_dim"])
            pair(layer + "final_layer_norm", h)
        if c["model_type"] in FIRST:
            pair(p + "layer_norm", h)
    return out


class Model:
    def __init__(self, c):
        self.c, self.first, self.waves = c, c["model_type"] in FIRST, c["model_type"] in WAVES

    def linear(self, x, name):
        y, bias = x @ self.w[name + ".weight"].T, self.w.get(name + ".bias")
        return y if bias is None else y + bias

    def norm(self, x, name):
        return torch.nn.functional.layer_norm(x, (x.shape[-1],), self.w[name + ".weight"], self.w[name + ".bias"], 1e-5)

    def act(self, x):
        name = self.c["activation_function"]
        if name in ("relu", "swish"):
            return {"relu": torch.relu, "swish": torch.nn.functional.silu}[name](x)
        return torch.nn.functional.gelu(x, approximate="none" if name == "gelu" else "tanh")

    def attention(self, x, source, name, added):
        rows, heads = x.shape[0], self.c["encoder_attention_heads"]
        q, k, v = (self.linear(y, f"{name}.{part}_proj").view(rows, y.shape[1], heads, -1).transpose(1, 2)
                   for part, y in (("q", x), ("k", source), ("v", source)))
        scores = q @ k.transpose(2, 3) / math.sqrt(q.shape[-1]) + added
        context = (scores.softmax(-1) @ v).transpose(1, 2).reshape(rows, x.shape[1], -1)
        return self.linear(context, name + ".out_proj")

    def part(self, x, norm, body):
        """x plus a part of a layer, of its norm or normed with it."""
        return x + body(self.norm(x, norm)) if self.first else self.norm(x + body(x), norm)

    def stack(self, name, ids, own, hidden, source=None):
        c, p = self.c, f"model.{name}."
        scale = math.sqrt(c["d_model"]) if c["scale_embedding"] else 1.0
        if ids.dtype == torch.long:
            x = torch.nn.functional.embedding(ids, self.w[table_of(c)], padding_idx=c["pad_token_id"]) * scale
        else:
            x = self.stem(ids.to(self.w[table_of(c)].dtype))
        if hears(c) and name == "encoder":
            x = x + fairseq_sinusoids(x.shape[1], c["d_model"], 0).to(x.dtype)
        elif self.waves:
            of = fairseq_sinusoids if c["model_type"] == "m2m_100" else sinusoids
            x = x + of(ids.shape[1], c["d_model"]).to(x.dtype)
        else:
            x = x + self.w[p + "embed_positions.weight"][torch.arange(ids.shape[1]) + first_row(c)]
            x = self.norm(x, p + "layernorm_embedding") if p + "layernorm_embedding.weight" in self.w else x
        for i in range(c[name + "_layers"]):
            layer = f"{p}layers.{i}."
            x = self.part(x, layer + "self_attn_layer_norm",
                          lambda y: self.attention(y, y, layer + "self_attn", own))
            if source is not None:
                x = self.part(x, layer + "encoder_attn_layer_norm",
                              lambda y: self.attention(y, source, layer + "encoder_attn", hidden))
            x = self.part(x, layer + "final_layer_norm",
                          lambda y: self.linear(self.act(self.linear(y, layer + "fc1")), layer + "fc2"))
        return self.norm(x, p + "layer_norm") if self.first else x

    def stem(self, features):
        """Two nn.Conv1d as products with the columns that they read: gradients of PyTorch 1.13's own are NaN in bf16."""
        for name, stride in (("conv1", 1), ("conv2", 2)):
            weight, bias = (self.w[f"model.encoder.{name}.{part}"] for part in ("weight", "bias"))
            wide = torch.nn.functional.pad(features, (1, 1)).transpose(1, 2)
            sums = sum(wide[:, i:i + features.shape[2]:stride] @ weight[:, :, i].T for i in range(3))
            features = torch.nn.functional.gelu(sums + bias).transpose(1, 2)
        return features.transpose(1, 2)

    def forward(self, w, ids, mask, targets):
        self.w, kind = w, w[table_of(self.c)].dtype
        hidden = 0 if mask is None else ((mask[:, None, None, :] - 1) * 1e9).to(kind)
        length = targets.shape[1]
        later = (torch.triu(torch.ones(length, length), 1) * -1e9).to(kind)
        source = self.stack("encoder", ids, hidden, hidden)
        x = self.stack("decoder", targets, later, hidden, source)
        logits = x @ w[table_of(self.c)].T
        return logits if self.bias is None else logits + self.bias.to(kind)


def sinusoids(length, size):
    """MarianSinusoidalPositionalEmbedding: sines, then cosines."""
    angles = torch.outer(torch.arange(length).double(), 10000.0 ** (-2 * torch.arange((size + 1) // 2).double() / size))
    return torch.cat((angles.sin(), angles.cos()[:, :size // 2]), 1)


def fairseq_sinusoids(length, size, first=2):
    """M2M100SinusoidalPositionalEmbedding: from the position behind padding's on, whose number is 1. Whisper's
    sinusoids() begins with 0."""
    waves = torch.exp(torch.arange(size // 2).double() * -(math.log(10000) / (size // 2 - 1)))
    angles = torch.outer(torch.arange(first, length + first).double(), waves)
    return torch.cat((angles.sin(), angles.cos()), 1)


def shifted(labels, c):
    """shift_tokens_right"""
    ids = labels.masked_fill(labels == -100, c["pad_token_id"])
    last = ids.gather(1, ((ids != c["pad_token_id"]).sum(1) - 1)[:, None])[:, 0]
    ids = ids.roll(1, 1)
    ids[:, 0] = last if c["model_type"] in ("mbart", "plbart") else c["decoder_start_token_id"]
    return ids


def batches(c):
    """The target: every other token of the source, and the end."""
    out = {}
    for step in range(common.STEPS):
        read = torch.randint(READ // 2, READ + 1, (BATCH,))
        ids, mask = torch.randint(3, VOCAB - 1, (BATCH, READ)), torch.zeros(BATCH, READ, dtype=torch.long)
        labels = torch.full((BATCH, WRITTEN), -100)
        for row, length in enumerate(read.tolist()):
            mask[row, :length] = 1
            written = ids[row, :length:2]
            labels[row, :len(written)], labels[row, len(written)] = written, c["eos_token_id"]
        step = f"step{step}."
        out[step + "labels"] = labels
        if hears(c):
            out[step + "input_features"] = torch.randn(BATCH, c["num_mel_bins"], 2 * READ)
            continue
        out[step + "input_ids"] = ids * mask + c["pad_token_id"] * (1 - mask)
        out[step + "attention_mask"] = mask
    return out


def source_of(batch):
    """The text that is read and its mask, or the sound."""
    if "input_features" in batch:
        return batch["input_features"], None
    return batch["input_ids"], batch["attention_mask"]


def greedy(model, w, ids, mask, tokens):
    """generate() without an end: the likeliest token, one after the other; the first may be forced."""
    forced = model.c.get("forced_bos_token_id")
    written = torch.full((len(ids), 1), model.c["decoder_start_token_id"])
    for place in range(tokens):
        logits = model.forward(w, ids, mask, written)[:, -1]
        for never in model.c.get("bad_words_ids", []):
            logits[:, never] = -math.inf
        next_ids = logits.argmax(-1)
        if place == 0 and forced is not None:
            next_ids = torch.full_like(next_ids, forced)
        written = torch.cat([written, next_ids[:, None]], 1)
    return written[:, 1:].tolist()


# Their texts do not repeat one token.
SEEDS = {"bart": 11, "mbart": 52, "marian": 30, "pegasus": 35, "m2m_100": 94, "blenderbot": 110, "plbart": 53,
         "whisper": 12}


def make(family, folder, seed=None, changes=None, sizes=None, **drawn):
    """`changes`: of the family's config; `sizes`: of this module's BATCH, READ, WRITTEN, VOCAB; `drawn`: deviation of
    the first weights, recipe."""
    globals().update(sizes or {})
    chosen = drawn.get("recipe") or common.PLAIN
    config = {**FAMILIES[family], **(changes or {})}
    torch.set_num_threads(1)
    torch.manual_seed(SEEDS.get(family, 5) if seed is None else seed)
    model = Model(config)

    def loss_of(w, batch):
        labels = batch["labels"]
        logits = model.forward(w, *source_of(batch), shifted(labels, config))
        return logits, torch.nn.functional.cross_entropy(logits.reshape(-1, VOCAB), labels.reshape(-1),
                                                         label_smoothing=chosen["smoothing"])

    weights, data = common.draw(shapes(config), drawn.get("deviation", 0.15)), batches(config)
    # a buffer: it is in the file and not trained
    model.bias = torch.randn(1, VOCAB) * 0.1 if config["model_type"] not in ("m2m_100", "whisper") else None
    adapter = drawn["adapter"](weights) if drawn.get("adapter") else None
    common.train(folder, config, weights, data, loss_of, chosen, adapter)
    if model.bias is not None:
        common.write_safetensors(pathlib.Path(folder) / "model.safetensors",
                                 {**weights, "final_logits_bias": model.bias})
    if drawn:
        return
    exact = {name: tensor.double() for name, tensor in weights.items()}
    source = source_of({name.split(".", 1)[1]: tensor for name, tensor in data.items() if name.startswith("step0.")})
    written = greedy(model, exact, *source, WRITTEN)
    (pathlib.Path(folder) / "generated.json").write_text(json.dumps({"step0.input_ids": written}) + "\n")


if __name__ == "__main__":
    make(*sys.argv[1:])
