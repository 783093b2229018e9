// The names of a Llama's layer, where encoders have such layers.
#pragma once

#include "workloads/models/bert/bert_config.h"

namespace workloads {

inline constexpr BertLayerNames kLlamaLayer{.query = "self_attn.q_proj",
                                            .key = "self_attn.k_proj",
                                            .value = "self_attn.v_proj",
                                            .out = "self_attn.o_proj",
                                            .norm1 = "input_layernorm",
                                            .up = "mlp.up_proj",
                                            .down = "mlp.down_proj",
                                            .norm2 = "post_attention_layernorm",
                                            .gate = "mlp.gate_proj"};

}  // namespace workloads
