"""DeBERTa's relative places, for encoder_relatives.py. `m`: its Model. After transformers' modeling_deberta.py and
modeling_deberta_v2.py."""
import math

import torch


def span(c):
    """Places of each side."""
    most = c["max_relative_positions"] if c["max_relative_positions"] > 0 else c["max_position_embeddings"]
    return c["position_buckets"] if c.get("position_buckets", 0) > 0 else most


def log_bucket(far, buckets, most):
    """make_log_bucket_position()."""
    middle = buckets // 2
    size = torch.where(far.abs() < middle, middle - 1, far.abs())
    ratio = torch.log(size / middle) / torch.log(torch.tensor((most - 1) / middle))
    return torch.where(size <= middle, far, ((torch.ceil(ratio * (middle - 1)) + middle) * far.sign()).long())


def own(m, number, name):
    return f"{m.kind['prefix']}encoder.layer.{number}.attention.self.{name}"


def table_shapes(m, out, pair):
    out[m.spots + ".weight"] = (2 * span(m.c), m.c["hidden_size"])
    if m.c.get("norm_rel_ebd") == "layer_norm":
        pair(m.kind["prefix"] + "encoder.LayerNorm", m.c["hidden_size"])
    if m.c.get("conv_kernel_size"):
        pair(m.kind["prefix"] + "encoder.conv.conv", m.c["hidden_size"], m.c["hidden_size"], m.c["conv_kernel_size"])
        pair(m.kind["prefix"] + "encoder.conv.LayerNorm", m.c["hidden_size"])


def layer_shapes(m, out, pair, number):
    """Of the first DeBERTa, whose queries, keys and values are one tensor, or of the second."""
    h = m.c["hidden_size"]
    if m.c["model_type"] == "deberta":
        out[own(m, number, "in_proj.weight")] = (3 * h, h)
        out[own(m, number, "q_bias")] = out[own(m, number, "v_bias")] = (h,)
        pair(own(m, number, "pos_proj"), h, h, bias=False)
        pair(own(m, number, "pos_q_proj"), h, h)
    elif not m.c["share_att_key"]:
        for part in ("key", "query"):
            pair(own(m, number, f"pos_{part}_proj"), h, h)


def projections(m, x, number):
    """Queries, keys and values of the first DeBERTa: a head's three are side by side."""
    rows, length, h = x.shape
    parts = m.linear(x, own(m, number, "in_proj")).view(rows, length, m.c["num_attention_heads"], -1).chunk(3, -1)
    q, k, v = (part.reshape(rows, length, h) for part in parts)
    return q + m.w[own(m, number, "q_bias")], k, v + m.w[own(m, number, "v_bias")]


def scores(m, q, k, names, number):
    """disentangled_attention_bias(), of which both parts and the scores of contents count alike."""
    c, length, heads, size = m.c, q.shape[2], m.c["num_attention_heads"], q.shape[3]
    table = m.w[m.spots + ".weight"]
    if c.get("norm_rel_ebd") == "layer_norm":
        table = m.norm(table, m.kind["prefix"] + "encoder.LayerNorm")
    layers = [own(m, number, name) for name in ("pos_key_proj", "pos_query_proj")]
    if c["model_type"] == "deberta":
        layers = [own(m, number, name) for name in ("pos_proj", "pos_q_proj")]
    elif c["share_att_key"]:
        layers = [names["k"], names["q"]]
    keys, queries = (m.linear(table, name).view(-1, heads, size).transpose(0, 1) for name in layers)
    far = torch.arange(length)[:, None] - torch.arange(length)[None, :]
    if c.get("position_buckets", 0) > 0:
        far = log_bucket(far, c["position_buckets"], c["max_position_embeddings"])
    there, back = ((sign * far + span(c)).clamp(0, 2 * span(c) - 1).expand(q.shape[0], heads, -1, -1)
                   for sign in (1, -1))
    to_places = (q @ keys.transpose(1, 2)).gather(-1, there)
    from_places = (k @ queries.transpose(1, 2)).gather(-1, back).transpose(2, 3)
    return (to_places + from_places) / math.sqrt(3 * size)


def with_neighbours(m, x, first):
    """ConvLayer, of the first layer's output and of its input."""
    name = m.kind["prefix"] + "encoder.conv."
    y = torch.nn.functional.conv1d(first.transpose(1, 2), m.w[name + "conv.weight"], m.w[name + "conv.bias"],
                                   padding=m.c["conv_kernel_size"] // 2).transpose(1, 2)
    return m.norm(x + torch.nn.functional.gelu(y), name + "LayerNorm")  # "conv_act"
