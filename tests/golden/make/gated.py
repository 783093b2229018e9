"""Relatives of BERT whose layers have a gate and turn queries and keys, for encoder_relatives.py: Alibaba-NLP's "new"
(Snowflake's "gte" is a copy of it) and Nomic's BERT. Written after their publishers' modeling.py and
modeling_hf_nomic_bert.py."""

# The names of a layer's parts; where up and gate are one tensor the gate is the second.
NAMES = {
    "new": {"qkv": "encoder.layer.{}.attention.qkv_proj", "o": "encoder.layer.{}.attention.o_proj",
            "norm1": "encoder.layer.{}.attn_ln", "up": "encoder.layer.{}.mlp.up_gate_proj",
            "down": "encoder.layer.{}.mlp.down_proj", "norm2": "encoder.layer.{}.mlp_ln"},
    "nomic_bert": {"qkv": "encoder.layers.{}.attn.Wqkv", "o": "encoder.layers.{}.attn.out_proj",
                   "norm1": "encoder.layers.{}.norm1", "up": "encoder.layers.{}.mlp.fc11",
                   "gate": "encoder.layers.{}.mlp.fc12", "down": "encoder.layers.{}.mlp.fc2",
                   "norm2": "encoder.layers.{}.norm2"}}
NAMES["gte"] = NAMES["new"]
KINDS = {
    "new": {"prefix": "new.", "norm": "embeddings.LayerNorm",
            "lm": ("lm_head.dense", "lm_head.norm", "lm_head.decoder.bias")},
    "nomic_bert": {"prefix": "bert.", "norm": "emb_ln",
                   "lm": ("cls.predictions.transform.dense", "cls.predictions.transform.layer_norm",
                          "cls.predictions.decoder.bias")}}
KINDS["gte"] = {**KINDS["new"], "prefix": "gte."}


def families(bert, labelled, width, heads):
    """Their files. `bert`: the keys that BERT has, too."""
    nomic = {**labelled, "model_type": "nomic_bert", "architectures": ["NomicBert"], "n_embd": width, "n_layer": 2,
             "n_head": heads, "n_inner": 256, "n_positions": 24, "type_vocab_size": 2, "pad_token_id": 0,
             "activation_function": "swiglu", "layer_norm_epsilon": 1e-5, "initializer_range": 0.1, "resid_pdrop": 0.0,
             "embd_pdrop": 0.0, "attn_pdrop": 0.0, "rotary_emb_base": 1000, "qkv_proj_bias": False,
             "mlp_fc1_bias": False, "mlp_fc2_bias": False}
    rope = {**bert, "position_embedding_type": "rope", "pack_qkv": True}
    return {"new": {**rope, "model_type": "new", "architectures": ["New"], "type_vocab_size": 2, "pad_token_id": 0,
                    "rope_theta": 500.0, "rope_scaling": {"type": "ntk", "factor": 2.0}},
            "gte": {**rope, "model_type": "gte", "architectures": ["Gte"], "type_vocab_size": 1, "rope_theta": 160.0,
                    "rope_scaling": None},
            "nomic_bert": nomic,
            "nomic_bert_biases": {**nomic, "activation_function": "geglu", "qkv_proj_bias": True, "mlp_fc1_bias": True,
                                  "mlp_fc2_bias": True}}


def names(family, layer):
    return {part: KINDS[family]["prefix"] + name.format(layer) for part, name in NAMES[family].items()}


def biases(c):
    """Which parts of a layer have one, by the keys of ModernBERT's file."""
    if "n_inner" in c:
        return {"attention_bias": c["qkv_proj_bias"], "mlp_bias": c["mlp_fc1_bias"], "down_bias": c["mlp_fc2_bias"]}
    return {"mlp_bias": False, "down_bias": True}


def turns(c, theta, half):
    """Radians per position of each pair; "ntk" scales them for sequences of any length."""
    factor = (c.get("rope_scaling") or {}).get("factor", 1.0)
    return [(theta * factor) ** (-j / half) / factor ** (1 / half) for j in range(half)]
