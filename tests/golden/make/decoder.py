#!/usr/bin/env python3
"""Trains a tiny relative of Llama: decoder.py FAMILY FOLDER. `./dev golden FAMILY` calls it. FAMILY_recipe has other
settings of the optimizer than the others; FAMILY_classifier gives texts a label each, as LlamaForSequenceClassification.

Written after transformers' modeling_llama.py, modeling_mistral.py, modeling_qwen2.py, modeling_qwen3.py,
modeling_gemma.py, modeling_gemma2.py, modeling_gemma3.py, modeling_smollm3.py, modeling_granite.py, modeling_phi3.py,
modeling_mixtral.py, modeling_qwen3_moe.py, modeling_olmo2.py, modeling_olmoe.py and modeling_rope_utils.py."""
import json
import math
import pathlib
import sys

import torch
from torch.utils.checkpoint import checkpoint

import common

BATCH, SEQ, VOCAB = 4, 24, 32
MOST_AT_ONCE = 4096  # tokens of a text whose scores are computed all at once
BASE = {"vocab_size": VOCAB, "hidden_size": 16, "num_hidden_layers": 2, "num_attention_heads": 4,
        "num_key_value_heads": 2, "head_dim": 4, "intermediate_size": 24, "max_position_embeddings": 40,
        "hidden_act": "silu", "rms_norm_eps": 1e-6, "rope_theta": 10000.0, "initializer_range": 0.1,
        "tie_word_embeddings": False, "bos_token_id": 1, "eos_token_id": 2, "attention_dropout": 0.0}
FAMILIES = {
    "qwen2": {"model_type": "qwen2", "architectures": ["Qwen2ForCausalLM"], "use_sliding_window": False,
              "sliding_window": 32, "max_window_layers": 2, "tie_word_embeddings": True},
    "mistral": {"model_type": "mistral", "architectures": ["MistralForCausalLM"], "sliding_window": 7},
    "qwen3": {"model_type": "qwen3", "architectures": ["Qwen3ForCausalLM"], "head_dim": 8, "attention_bias": False},
    "gemma": {"model_type": "gemma", "architectures": ["GemmaForCausalLM"], "head_dim": 8, "num_key_value_heads": 1,
              "hidden_act": "gelu", "hidden_activation": "gelu_pytorch_tanh", "tie_word_embeddings": True},
    "granite": {"model_type": "granite", "architectures": ["GraniteForCausalLM"], "embedding_multiplier": 3.0,
                "residual_multiplier": 0.5, "attention_multiplier": 0.2, "logits_scaling": 2.0},
    "llama_linear": {"model_type": "llama", "architectures": ["LlamaForCausalLM"],
                     "rope_scaling": {"type": "linear", "factor": 2.0}},
    "phi3": {"model_type": "phi3", "architectures": ["Phi3ForCausalLM"], "sliding_window": 11},
    "mixtral": {"model_type": "mixtral", "architectures": ["MixtralForCausalLM"], "num_local_experts": 4,
                "num_experts_per_tok": 2, "router_aux_loss_coef": 0.5, "output_router_logits": True,
                "sliding_window": None},
    "qwen3_moe": {"model_type": "qwen3_moe", "architectures": ["Qwen3MoeForCausalLM"], "head_dim": 8,
                  "num_experts": 8, "num_experts_per_tok": 3, "moe_intermediate_size": 24, "norm_topk_prob": False,
                  "decoder_sparse_step": 1, "mlp_only_layers": [], "router_aux_loss_coef": 0.001,
                  "output_router_logits": False},
}
# The layers from one on have a window.
FAMILIES["qwen2_window"] = {**FAMILIES["qwen2"], "use_sliding_window": True, "sliding_window": 7, "max_window_layers": 1,
                            "num_hidden_layers": 4}
FAMILIES["qwen3_window"] = {**FAMILIES["qwen3"], "use_sliding_window": True, "sliding_window": 5, "max_window_layers": 0}
# Of each two layers one has experts, and of these the last has none; or all but one have them.
FAMILIES["qwen3_moe_step"] = {**FAMILIES["qwen3_moe"], "num_hidden_layers": 6, "decoder_sparse_step": 2,
                              "mlp_only_layers": [5], "intermediate_size": 40}
FAMILIES["qwen3_moe_listed"] = {**FAMILIES["qwen3_moe"], "num_hidden_layers": 4, "mlp_only_layers": [1],
                                "intermediate_size": 40, "output_router_logits": True, "router_aux_loss_coef": 0.5}
FAMILIES["qwen2_yarn"] = {**FAMILIES["qwen2"], "head_dim": 8,
                          "rope_scaling": {"type": "yarn", "factor": 4.0, "original_max_position_embeddings": 20,
                                           "beta_fast": 2.0}}
FAMILIES["gemma_wide"] = {**FAMILIES["gemma"], "num_attention_heads": 2, "head_dim": 144}
FAMILIES["llama_llama3"] = {"model_type": "llama", "architectures": ["LlamaForCausalLM"],
                            "rope_scaling": {"rope_type": "llama3", "factor": 8.0, "low_freq_factor": 1.0,
                                             "high_freq_factor": 4.0, "original_max_position_embeddings": 16}}
FAMILIES["phi3_long"] = {"model_type": "phi3", "architectures": ["Phi3ForCausalLM"], "sliding_window": None,
                         "original_max_position_embeddings": 12,
                         "rope_scaling": {"type": "longrope", "short_factor": [1.0, 1.5], "long_factor": [2.0, 4.0]}}
AROUND = {**FAMILIES["gemma"], "sliding_window": 7, "query_pre_attn_scalar": 6}
FAMILIES["gemma2"] = {**AROUND, "model_type": "gemma2", "architectures": ["Gemma2ForCausalLM"], "num_key_value_heads": 2,
                      "attn_logit_softcapping": 0.5, "final_logit_softcapping": 2.0}
FAMILIES["gemma3"] = {**AROUND, "model_type": "gemma3_text", "architectures": ["Gemma3ForCausalLM"],
                      "num_key_value_heads": 2, "sliding_window_pattern": 2,
                      "rope_theta": 100000.0, "rope_local_base_freq": 100.0, "attn_logit_softcapping": None,
                      "final_logit_softcapping": None}
FAMILIES["smollm3"] = {"model_type": "smollm3", "architectures": ["SmolLM3ForCausalLM"], "no_rope_layer_interval": 2,
                       "tie_word_embeddings": True}
FAMILIES["stablelm"] = {"model_type": "stablelm", "architectures": ["StableLmForCausalLM"], "hidden_size": 32,
                        "head_dim": 8, "partial_rotary_factor": 0.5, "use_qkv_bias": True, "layer_norm_eps": 1e-5,
                        "use_parallel_residual": False, "qk_layernorm": False, "hidden_dropout": 0.0}
FAMILIES["olmo2"] = {"model_type": "olmo2", "architectures": ["Olmo2ForCausalLM"]}
FAMILIES["olmoe"] = {"model_type": "olmoe", "architectures": ["OlmoeForCausalLM"], "num_experts": 8,
                     "num_experts_per_tok": 3, "norm_topk_prob": False, "clip_qkv": None, "rms_norm_eps": 1e-5,
                     "router_aux_loss_coef": 0.01, "output_router_logits": False}
FAMILIES["phi3_partial"] = {**FAMILIES["phi3_long"], "hidden_size": 32, "head_dim": 8, "partial_rotary_factor": 0.5}
# More keys than a row of scores has room for on the device, which takes them in blocks, and queries in segments.
FAMILIES["llama_long"] = {"model_type": "llama", "architectures": ["LlamaForCausalLM"], "vocab_size": 8,
                          "hidden_size": 8, "num_hidden_layers": 1, "num_attention_heads": 2, "num_key_value_heads": 1,
                          "intermediate_size": 8, "max_position_embeddings": 32768}
SIZES = {"llama_long": {"BATCH": 1, "SEQ": 32768, "VOCAB": 8, "steps": 2, "recipe": {"rate": 1e-2, "bf16": False}}}
FAMILIES["llama"] = {"model_type": "llama", "architectures": ["LlamaForCausalLM"]}
LABELS = 3
NAMES = {str(i): f"LABEL_{i}" for i in range(LABELS)}
CLASSIFIER = {"pad_token_id": 0, "id2label": NAMES, "label2id": {name: int(i) for i, name in NAMES.items()}}
# Slots for so many times an even share of the tokens; later tokens of a full expert are dropped there.
FAMILIES["mixtral_capacity"] = {**FAMILIES["mixtral"], "capacity_factor": 0.75}


def experts(c):
    return c.get("num_local_experts", c.get("num_experts", 0))


def has_experts(c, layer):
    """Qwen2MoeDecoderLayer.__init__()."""
    sparse = layer not in c.get("mlp_only_layers", []) and (layer + 1) % c.get("decoder_sparse_step", 1) == 0
    return experts(c) and sparse


def expert_ffn(c):
    return c.get("moe_intermediate_size", c["intermediate_size"])


def expert_names(c):
    if c["model_type"] == "mixtral":
        return "block_sparse_moe.gate", "block_sparse_moe.experts", "w1", "w3", "w2"
    return "mlp.gate", "mlp.experts", "gate_proj", "up_proj", "down_proj"


def mixture(w, y, p, c, routers):
    """y: [batch, length, hidden]. Routers' logits are kept for their loss."""
    router, prefix, gate, up, down = expert_names(c)
    flat = y.reshape(-1, y.shape[-1])
    logits = flat @ w[p + router + ".weight"].T
    routers.append(logits)
    gates, chosen = logits.softmax(-1).topk(c["num_experts_per_tok"], dim=-1)
    if c.get("norm_topk_prob", True):
        gates = gates / gates.sum(-1, keepdim=True)
    share = len(flat) * c["num_experts_per_tok"] / experts(c)
    capacity = math.ceil(share * c["capacity_factor"]) if "capacity_factor" in c else len(flat)
    out = torch.zeros_like(flat)
    for e in range(experts(c)):
        tokens, choice = torch.where(chosen == e)
        tokens, choice = tokens[:capacity], choice[:capacity]
        x = flat[tokens]
        name = p + f"{prefix}.{e}."
        x = torch.nn.functional.silu(x @ w[name + gate + ".weight"].T) * (x @ w[name + up + ".weight"].T)
        out = out.index_add(0, tokens, gates[tokens, choice, None] * (x @ w[name + down + ".weight"].T))
    return out.reshape(y.shape)


def router_loss(routers, c):
    """load_balancing_loss_func without a mask."""
    probs = torch.cat(routers).softmax(-1)
    chosen = probs.topk(c["num_experts_per_tok"], dim=-1).indices
    load = torch.nn.functional.one_hot(chosen, experts(c)).double().mean(0)
    return c["router_aux_loss_coef"] * experts(c) * (load * probs.mean(0)[None]).sum()


def is_gemma(c):
    return c["model_type"].startswith("gemma")


def has_head_norms(c):
    return c["model_type"].startswith(("qwen3", "gemma3"))


def joint_norms(c):
    """One norm over all heads."""
    return c["model_type"] in ("olmo2", "olmoe")


def norms_behind(c):
    """Norms of the outputs of attention and MLP, where there are norms before them too."""
    if c["model_type"] in ("gemma2", "gemma3_text"):
        return "post_attention_layernorm", "post_feedforward_layernorm"
    return None, None


def norms(c):
    if norms_behind(c)[0]:
        return "input_layernorm", "pre_feedforward_layernorm"
    if c["model_type"] == "olmo2":
        return "post_attention_layernorm", "post_feedforward_layernorm"
    return "input_layernorm", "post_attention_layernorm"


def shapes(c):
    h, head, ffn = c["hidden_size"], c["head_dim"], c["intermediate_size"]
    q, kv = c["num_attention_heads"] * head, c["num_key_value_heads"] * head
    out = {"model.embed_tokens.weight": (c["vocab_size"], h)}
    for i in range(c["num_hidden_layers"]):
        p = f"model.layers.{i}."
        if c["model_type"] == "phi3":
            out[p + "self_attn.qkv_proj.weight"] = (q + 2 * kv, h)
        for name, size in (("q", q), ("k", kv), ("v", kv)) if c["model_type"] != "phi3" else ():
            out[p + f"self_attn.{name}_proj.weight"] = (size, h)
            if c["model_type"] == "qwen2" or c.get("use_qkv_bias"):
                out[p + f"self_attn.{name}_proj.bias"] = (size,)
        if has_head_norms(c):
            out[p + "self_attn.q_norm.weight"] = out[p + "self_attn.k_norm.weight"] = (head,)
        if joint_norms(c):
            out[p + "self_attn.q_norm.weight"], out[p + "self_attn.k_norm.weight"] = (q,), (kv,)
        out[p + "self_attn.o_proj.weight"] = (h, q)
        if has_experts(c, i):
            router, prefix, gate, up, down = expert_names(c)
            out[p + router + ".weight"] = (experts(c), h)
            for e in range(experts(c)):
                out[p + f"{prefix}.{e}.{gate}.weight"] = out[p + f"{prefix}.{e}.{up}.weight"] = (expert_ffn(c), h)
                out[p + f"{prefix}.{e}.{down}.weight"] = (h, expert_ffn(c))
        elif c["model_type"] == "phi3":
            out[p + "mlp.gate_up_proj.weight"] = (2 * ffn, h)
            out[p + "mlp.down_proj.weight"] = (h, ffn)
        else:
            out[p + "mlp.gate_proj.weight"] = out[p + "mlp.up_proj.weight"] = (ffn, h)
            out[p + "mlp.down_proj.weight"] = (h, ffn)
        for name in (*norms(c), *norms_behind(c)):
            if name:
                out[p + name + ".weight"] = (h,)
    out["model.norm.weight"] = (h,)
    if "layer_norm_eps" in c:
        norms_there = [n for n in out if n.endswith("norm.weight")]
        out.update({n.replace(".weight", ".bias"): (h,) for n in norms_there})
    if "id2label" in c:
        out["score.weight"] = (LABELS, h)
    elif not c["tie_word_embeddings"]:
        out["lm_head.weight"] = (c["vocab_size"], h)
    return out


def yarn(c, scaling, frequencies):
    """_compute_yarn_parameters()."""
    size, original = 2 * len(frequencies), scaling.get("original_max_position_embeddings", c["max_position_embeddings"])

    def place(turns):
        return size * math.log(original / (turns * 2 * math.pi)) / (2 * math.log(c["rope_theta"]))

    def magnitude(scale):
        return 0.1 * scale * math.log(scaling["factor"]) + 1

    low, high = place(scaling.get("beta_fast", 32)), place(scaling.get("beta_slow", 1))
    if scaling.get("truncate", True):
        low, high = math.floor(low), math.ceil(high)
    low, high = max(low, 0), min(high, size - 1)
    slowed = ((torch.arange(size // 2) - low) / (high - low or 0.001)).clamp(0, 1).double()
    factor = magnitude(1)
    if "mscale" in scaling:
        factor = magnitude(scaling["mscale"]) / magnitude(scaling["mscale_all_dim"])
    return (frequencies / scaling["factor"] * slowed + frequencies * (1 - slowed),
            scaling.get("attention_factor", factor))


def rope(c, frequencies, length):
    """Scaled frequencies, and the factor of cosines and sines."""
    scaling = c.get("rope_scaling", {"type": "default"})
    kind = scaling.get("rope_type", scaling.get("type"))
    if kind == "linear":
        return frequencies / scaling["factor"], 1
    if kind == "yarn":
        return yarn(c, scaling, frequencies)
    if kind == "longrope":
        original = c["original_max_position_embeddings"]
        divisors = scaling["long_factor" if length > original else "short_factor"]
        stretch = c["max_position_embeddings"] / original
        return frequencies / torch.tensor(divisors).double(), math.sqrt(1 + math.log(stretch) / math.log(original))
    if kind == "llama3":
        low, high = scaling["low_freq_factor"], scaling["high_freq_factor"]
        context = scaling["original_max_position_embeddings"]
        waves = 2 * math.pi / frequencies
        smooth = (context / waves - low) / (high - low)
        between = (1 - smooth) * frequencies / scaling["factor"] + smooth * frequencies
        scaled = torch.where(waves > context / low, frequencies / scaling["factor"], frequencies)
        return torch.where((waves <= context / low) & (waves >= context / high), between, scaled), 1
    return frequencies, 1


def rotate(x, c, theta=None):
    """x: [batch, heads, length, head]."""
    head, length = x.shape[-1], x.shape[-2]
    frequencies, magnitude = rope(c, (theta or c["rope_theta"]) ** (-torch.arange(0, head, 2).double() / head), length)
    # As the device has them: cosines and sines are tables of fp32.
    angles = torch.outer(torch.arange(length).double(), frequencies)
    cos, sin = (torch.cat((t, t), -1).float().double() for t in (magnitude * angles.cos(), magnitude * angles.sin()))
    half = head // 2
    return (x * cos + torch.cat((-x[..., half:], x[..., :half]), -1) * sin).to(x.dtype)


def is_full(c, layer):
    """Whether a layer has no window where others have one."""
    if c.get("use_sliding_window"):
        return layer < c["max_window_layers"]
    every = {"gemma2": 2, "gemma3_text": c.get("sliding_window_pattern")}.get(c["model_type"])
    return every and (layer + 1) % every == 0


def capped(x, cap):
    return cap * torch.tanh(x / cap) if cap else x


def attend_in_blocks(q, k, v, scale, rows=256):
    """Causal attention, queries a few at a time and again for their gradients: all scores of a long text fill no host's
    memory. Each row is computed as a whole, by the same operations."""
    def some(first, q, k, v):
        hidden = torch.arange(k.shape[2])[None, :] > first + torch.arange(q.shape[2])[:, None]
        return (q @ k.transpose(2, 3) * scale).masked_fill(hidden, float("-inf")).softmax(-1) @ v

    parts = []
    for first in range(0, q.shape[2], rows):
        seen = min(first + rows, k.shape[2])
        parts.append(checkpoint(some, first, q[:, :, first:seen], k[:, :, :seen], v[:, :, :seen]))
    return torch.cat(parts, 2)


def forward(w, ids, c, routers):
    gemma, (around1, around2) = is_gemma(c), norms_behind(c)
    behind, (norm1, norm2) = c["model_type"] == "olmo2", norms(c)
    windowed = c["model_type"] in ("mistral", "phi3", "gemma2", "gemma3_text") or c.get("use_sliding_window")
    heads, kv_heads, head = c["num_attention_heads"], c["num_key_value_heads"], c["head_dim"]

    def linear(x, name):
        y = x @ w[name + ".weight"].T
        return y + w[name + ".bias"] if name + ".bias" in w else y

    def norm(x, name):
        if "layer_norm_eps" in c:
            return torch.nn.functional.layer_norm(x, x.shape[-1:], w[name + ".weight"], w[name + ".bias"],
                                                  c["layer_norm_eps"])
        x = x * torch.rsqrt(x.pow(2).mean(-1, keepdim=True) + c["rms_norm_eps"])
        return x * (1 + w[name + ".weight"]) if gemma else x * w[name + ".weight"]

    def act(x):
        return torch.nn.functional.gelu(x, approximate="tanh") if gemma else torch.nn.functional.silu(x)

    batch, length = ids.shape
    in_blocks = length > MOST_AT_ONCE
    place = torch.arange(1 if in_blocks else length)
    back = place[:, None] - place[None, :]
    window = (back < 0) | (back >= (c.get("sliding_window") or length if windowed else length))
    scale = c.get("attention_multiplier", 1 / math.sqrt(c.get("query_pre_attn_scalar", head)))
    residual = c.get("residual_multiplier", 1)
    x = w["model.embed_tokens.weight"][ids] * c.get("embedding_multiplier", 1)
    if gemma:
        x = x * math.sqrt(c["hidden_size"])
    for i in range(c["num_hidden_layers"]):
        p = f"model.layers.{i}."
        hidden = back < 0 if is_full(c, i) else window
        y = x if behind else norm(x, p + norm1)
        if c["model_type"] == "phi3":
            sizes = [heads * head, kv_heads * head, kv_heads * head]
            qkv = linear(y, p + "self_attn.qkv_proj").split(sizes, -1)
        else:
            qkv = [linear(y, p + f"self_attn.{n}_proj") for n in "qkv"]
        if joint_norms(c):
            qkv = [norm(qkv[0], p + "self_attn.q_norm"), norm(qkv[1], p + "self_attn.k_norm"), qkv[2]]
        q, k, v = (t.view(batch, length, -1, head) for t in qkv)
        if has_head_norms(c):
            q, k = norm(q, p + "self_attn.q_norm"), norm(k, p + "self_attn.k_norm")
        q, k, v = (t.transpose(1, 2) for t in (q, k, v))
        if (i + 1) % c.get("no_rope_layer_interval", c["num_hidden_layers"] + 1):
            theta = None if is_full(c, i) else c.get("rope_local_base_freq")
            turned = int(head * c.get("partial_rotary_factor", 1))
            q, k = (torch.cat((rotate(t[..., :turned], c, theta), t[..., turned:]), -1) for t in (q, k))
        k, v = (t.repeat_interleave(heads // kv_heads, 1) for t in (k, v))
        if in_blocks:
            y = attend_in_blocks(q, k, v, scale)
        else:
            scores = capped(q @ k.transpose(2, 3) * scale, c.get("attn_logit_softcapping"))
            y = scores.masked_fill(hidden, float("-inf")).softmax(-1) @ v
        y = linear(y.transpose(1, 2).reshape(batch, length, heads * head), p + "self_attn.o_proj")
        x = x + residual * (norm(y, p + (norm1 if behind else around1)) if behind or around1 else y)
        y = x if behind else norm(x, p + norm2)
        if has_experts(c, i):
            y = mixture(w, y, p, c, routers)
        elif c["model_type"] == "phi3":
            gate, up = linear(y, p + "mlp.gate_up_proj").chunk(2, -1)
            y = linear(up * act(gate), p + "mlp.down_proj")
        else:
            y = linear(act(linear(y, p + "mlp.gate_proj")) * linear(y, p + "mlp.up_proj"), p + "mlp.down_proj")
        x = x + residual * (norm(y, p + (norm2 if behind else around2)) if behind or around2 else y)
    if "id2label" in c:  # of the last token that is not padding
        last = (ids == c["pad_token_id"]).int().argmax(-1) - 1
        return norm(x, "model.norm")[torch.arange(batch), last] @ w["score.weight"].T
    top = w["model.embed_tokens.weight" if c["tie_word_embeddings"] else "lm_head.weight"]
    return capped(norm(x, "model.norm") @ top.T / c.get("logits_scaling", 1), c.get("final_logit_softcapping"))


def batches():
    """Text that can be learnt: counting in steps of its own. A mask takes a different part of each row out of the loss."""
    out = {}
    for step in range(common.STEPS):
        start, stride = torch.randint(0, VOCAB, (BATCH, 1)), torch.randint(1, 4, (BATCH, 1))
        ids = (start + stride * torch.arange(SEQ)) % VOCAB
        labels = ids.clone()
        for row in range(BATCH):
            labels[row, :3 * row] = -100
        out[f"step{step}.input_ids"], out[f"step{step}.labels"] = ids, labels
    return out


def labelled_batches(c):
    """The label is the count of small tokens in a row, by thirds; rows are padded to their own lengths, the first to
    all but one token."""
    out = {}
    for step in range(common.STEPS):
        ids = torch.randint(1, VOCAB, (BATCH, SEQ))
        lengths = torch.randint(SEQ // 2, SEQ, (BATCH, 1))
        lengths[0] = SEQ - 1
        mask = (torch.arange(SEQ) < lengths).long()
        step = f"step{step}."
        out[step + "input_ids"] = ids * mask + c["pad_token_id"] * (1 - mask)
        out[step + "attention_mask"] = mask
        out[step + "labels"] = ((ids < VOCAB // 2).long() * mask).sum(1) % LABELS
    return out


def write_generated(folder, weights, logits_of, tokens=24):
    """What greedy search writes behind two prompts, by a whole pass for each token, with the logits of each."""
    weights = {name: tensor.double() for name, tensor in weights.items()}
    prompts = [[(start + 37 * i + i * i) % VOCAB for i in range(length)] for start, length in ((5, 12), (26, 3))]
    out = {"prompts": prompts, "ids": [], "logits": []}
    for prompt in prompts:
        ids, logits = list(prompt), []
        while len(logits) <= tokens:
            last = logits_of(weights, torch.tensor([ids]))[0, -1]
            logits.append([round(x, 6) for x in last.tolist()])
            ids.append(int(last.argmax()))
        out["ids"].append(ids[:-1])
        out["logits"].append(logits)
    (pathlib.Path(folder) / "generated.json").write_text(json.dumps(out) + "\n")


def make(family, folder, seed=1, changes=None, sizes=None, **drawn):
    """`changes`: of the family's config; `sizes`: of this module's BATCH, SEQ, VOCAB; `drawn`: deviation of the first
    weights, recipe, adapter(weights)."""
    own = dict(SIZES.get(family, {}))
    common.STEPS = own.pop("steps", common.STEPS)
    chosen = drawn.get("recipe") or (common.OTHER if family.endswith("_recipe") else common.PLAIN)
    chosen = {**chosen, **own.pop("recipe", {})}
    globals().update({**own, **(sizes or {})})
    family, classifies = family.removesuffix("_recipe").removesuffix("_classifier"), family.endswith("_classifier")
    config = {**BASE, **FAMILIES[family], **(changes or {})}
    if "partial_rotary_factor" in config:  # keys' biases have no gradient where they do not turn: as plain.py has it
        chosen = {**chosen, "eps": max(chosen["eps"], 1e-6)}
    if classifies:
        made_for = config["architectures"][0].replace("ForCausalLM", "ForSequenceClassification")
        config.update(CLASSIFIER, architectures=[made_for])
    torch.set_num_threads(1)
    torch.manual_seed(seed)

    def loss_of(w, batch):
        routers = []
        logits = forward(w, batch["input_ids"], config, routers)
        if classifies:
            return logits, torch.nn.functional.cross_entropy(logits, batch["labels"],
                                                             label_smoothing=chosen["smoothing"])
        flat, labels = logits[:, :-1].reshape(-1, VOCAB), batch["labels"][:, 1:].reshape(-1)
        loss = torch.nn.functional.cross_entropy(flat, labels, label_smoothing=chosen["smoothing"])
        return logits, loss, router_loss(routers, config) if config.get("output_router_logits") else 0

    weights = common.draw(shapes(config), drawn.get("deviation", 0.1))
    if is_gemma(config):
        weights = {n: t - 1 if len(t.shape) == 1 else t for n, t in weights.items()}
    data = labelled_batches(config) if classifies else batches()
    adapter = drawn["adapter"](weights) if drawn.get("adapter") else None
    common.train(folder, config, weights, data, loss_of, chosen, adapter)
    if not drawn and config.get("sliding_window") and config.get("use_sliding_window", True):
        write_generated(folder, weights, lambda w, ids: forward(w, ids, config, []))


if __name__ == "__main__":
    make(*sys.argv[1:])
