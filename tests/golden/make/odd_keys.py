"""Keys of a config.json that change the model and that published files have otherwise, by family."""
GELUS = ["gelu", "gelu_new", "gelu_pytorch_tanh"]
EPS = [1e-12, 1e-6, 1e-4]
FLAG = [True, False]
CAPS = [None, 3.0, 50.0]
ROPES = [{"rope_type": "linear", "factor": 3.0}, {"type": "linear", "factor": 1.5},
         {"rope_type": "llama3", "factor": 4.0, "low_freq_factor": 1.0, "high_freq_factor": 3.0,
          "original_max_position_embeddings": 20}]
ROUTER = {"router_aux_loss_coef": [0.0, 0.3], "output_router_logits": FLAG, "capacity_factor": [0.5, 1.0, 1.3]}
BERT = {"hidden_act": GELUS, "layer_norm_eps": EPS}
# Values of each key; a family of the golden trajectories has one of them.
KEYS = {
    "llama": {"rope_scaling": ROPES}, "qwen2": {"rope_scaling": ROPES}, "qwen3": {"rope_scaling": ROPES},
    "mistral": {"sliding_window": [None], "rope_scaling": ROPES},
    "gemma2": {"attn_logit_softcapping": CAPS, "final_logit_softcapping": CAPS},
    "gemma3": {"sliding_window_pattern": [1, 2, 3], "rope_local_base_freq": [100.0, 1e5],
               "query_pre_attn_scalar": [3, 40]},
    "granite": {"embedding_multiplier": [0.5, 12.0], "residual_multiplier": [0.2, 1.0],
                "attention_multiplier": [0.01, 1.0], "logits_scaling": [0.5, 8.0]},
    "smollm3": {"no_rope_layer_interval": [1, 2, 3], "rope_scaling": ROPES},
    "stablelm": {"use_qkv_bias": FLAG, "partial_rotary_factor": [0.5, 1.0], "layer_norm_eps": EPS},
    "mixtral": ROUTER, "qwen3_moe": {**ROUTER, "norm_topk_prob": FLAG}, "olmoe": {**ROUTER, "norm_topk_prob": FLAG},
    "gpt_neox": {"hidden_act": GELUS, "rotary_pct": [0.5, 1.0], "layer_norm_eps": EPS, "tie_word_embeddings": FLAG,
                 "rotary_emb_base": [100.0, 1e6]},
    "opt": {"tie_word_embeddings": FLAG}, "opt_350m": {"tie_word_embeddings": FLAG},
    "phi": {"hidden_act": GELUS, "partial_rotary_factor": [0.5, 1.0], "layer_norm_eps": EPS},
    "starcoder2": {"hidden_act": GELUS, "sliding_window": [None], "norm_epsilon": EPS, "tie_word_embeddings": FLAG},
    "gpt_neo": {"activation_function": GELUS, "layer_norm_epsilon": EPS, "tie_word_embeddings": FLAG},
    "gpt_bigcode": {"activation_function": GELUS, "layer_norm_epsilon": EPS, "tie_word_embeddings": FLAG},
    "falcon": {"activation": GELUS, "layer_norm_epsilon": EPS, "multi_query": FLAG, "tie_word_embeddings": FLAG,
               "rope_theta": [100.0, 1e6]},
    "cohere": {"attention_bias": FLAG, "logit_scale": [0.1, 2.0], "tie_word_embeddings": FLAG},
    "cohere2": {"attention_bias": FLAG, "logit_scale": [0.1, 2.0]},
    "glm": {"attention_bias": FLAG, "partial_rotary_factor": [0.5, 1.0]},
    "glm4": {"attention_bias": FLAG, "partial_rotary_factor": [0.5, 1.0]},
    "helium": {"attention_bias": FLAG, "mlp_bias": FLAG}, "ernie4_5": {"use_bias": FLAG},
    "nemotron": {"attention_bias": FLAG, "mlp_bias": FLAG, "partial_rotary_factor": [0.5, 1.0]},
    "arcee": {"attention_bias": FLAG, "mlp_bias": FLAG}, "seed_oss": {"mlp_bias": FLAG, "attention_bias": FLAG},
    "internlm": {"bias": FLAG}, "internlm2": {"bias": FLAG}, "internlm3": {"bias": FLAG, "qkv_bias": FLAG},
    "baichuan": {"z_loss_weight": [0]}, "exaone": {"rope_scaling": ROPES, "tie_word_embeddings": FLAG},
    "chatglm": {"attention_bias": FLAG},
    "granitemoehybrid": {"position_embedding_type": ["rope", "nope"], "attention_bias": FLAG,
                         "tie_word_embeddings": FLAG},
    "hunyuan_v1_dense": {"rope_scaling": [{"type": "dynamic", "alpha": 3.0, "factor": 1.0},
                                          {"type": "dynamic", "factor": 2.0}],
                         "attention_bias": FLAG, "tie_word_embeddings": FLAG},
    "minimax_m2": {"tie_word_embeddings": FLAG},
    "modernbert-decoder": {"attention_bias": FLAG, "decoder_bias": [True], "local_rope_theta": [100.0, 1e5],
                           "hidden_act": ["gelu", "gelu_new"]},
    "apertus": {"attention_bias": FLAG, "tie_word_embeddings": FLAG, "rope_scaling": ROPES},
    "bailing_moe": {"attention_bias": FLAG, "use_bias": FLAG}, "bailing_moe_v2": {"attention_bias": FLAG, "use_bias": FLAG},
    "minicpm": {"scale_emb": [1, 12], "scale_depth": [0.7, 5.0], "dim_model_base": [1, 100],
                "tie_word_embeddings": FLAG, "attention_bias": FLAG},
    "bloom": {"tie_word_embeddings": FLAG},
    "gpt2": {"activation_function": GELUS, "layer_norm_epsilon": EPS, "tie_word_embeddings": FLAG,
             "n_inner": [None, 5, 150]},
    "vit": BERT, "deit_teacher": BERT, "vit_msn": BERT, "ijepa": BERT, "dinov2": BERT, "dinov2_gated": BERT,
    "dinov2_with_registers": {**BERT, "use_swiglu_ffn": FLAG}, "siglip": {"layer_norm_eps": EPS}, "bert": BERT, "roberta": BERT, "xlm-roberta": BERT, "electra": BERT,
    "albert": BERT, "distilbert": {"activation": GELUS},
    "t5": {"feed_forward_proj": ["relu", "gated-gelu"], "tie_word_embeddings": FLAG, "layer_norm_epsilon": EPS,
           "decoder_start_token_id": [0, 2]},
    "bart": {"activation_function": [*GELUS, "relu"], "scale_embedding": FLAG, "decoder_start_token_id": [0, 2]},
    "esm": {"layer_norm_eps": EPS, "token_dropout": FLAG}, "mpnet": BERT, "rembert": BERT, "megatron-bert": BERT,
    "deberta": {**BERT, "max_relative_positions": [-1, 3, 30]},
    "deberta-v2": {**BERT, "norm_rel_ebd": ["none", "layer_norm"], "share_att_key": FLAG, "position_buckets": [-1, 2, 7]},
    "xlm-roberta-xl": BERT, "roberta-prelayernorm": BERT, "data2vec-text": BERT, "ernie": {**BERT, "use_task_id": FLAG},
    "new": {**BERT, "rope_theta": [100.0, 160000.0], "type_vocab_size": [0, 1, 2],
            "rope_scaling": [None, {"type": "ntk", "factor": 8.0}]},
    "nomic_bert": {"activation_function": ["swiglu", "geglu"], "rotary_emb_base": [100, 10000], "qkv_proj_bias": FLAG,
                   "mlp_fc1_bias": FLAG, "mlp_fc2_bias": FLAG, "layer_norm_epsilon": EPS, "type_vocab_size": [0, 1, 2]},
    "eurobert": {"attention_bias": FLAG, "clf_pooling": ["late", "mean", "bos"], "rms_norm_eps": EPS,
                 "rope_theta": [100.0, 250000.0]},
    "modernbert": {"norm_eps": EPS, "norm_bias": FLAG, "attention_bias": FLAG, "mlp_bias": FLAG,
                   "classifier_bias": FLAG, "global_attn_every_n_layers": [1, 2, 3], "local_attention": [1, 4, 9, 128],
                   "classifier_pooling": ["cls", "mean"], "global_rope_theta": [100.0, 160000.0]},
    "xlm": {"gelu_activation": FLAG, "layer_norm_eps": EPS},
    "flaubert": {"gelu_activation": FLAG, "layer_norm_eps": EPS, "pre_norm": FLAG},
}
KEYS |= {"mbart": KEYS["bart"], "nomic": KEYS["nomic_bert"], "gpt_neox_serial": KEYS["gpt_neox"], "t5_v1_1": KEYS["t5"],
         "falcon_40b": {key: KEYS["falcon"][key] for key in ("activation", "layer_norm_epsilon", "rope_theta")}}


def drawn(family, changes, draw):
    """Some of them; not where a size of the model says otherwise already."""
    keys = KEYS.get(family, KEYS.get(family.split("_")[0], {}))
    if "eps" in changes:  # which a file has under one of these names
        keys = {key: values for key, values in keys.items() if not key.endswith(("_eps", "_epsilon"))}
    out = {key: draw.choice(values) for key, values in keys.items() if draw.random() < 0.35}
    if out.get("rope_scaling") and "original_max_position_embeddings" in out["rope_scaling"]:
        out["rope_scaling"] = {**out["rope_scaling"], "original_max_position_embeddings":
                               max(4, changes["max_position_embeddings"] // 2)}
    return out
