// The relatives of BERT: the differences of each, and its names.
#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "workloads/models/bert/bert_config.h"
#include "workloads/models/bert/embedding_gemma.h"
#include "workloads/models/bert/eurobert.h"

namespace workloads {
namespace {

/// A relative with BERT's names of a layer's weights.
constexpr BertDialect like_bert(BertKind kind, std::string_view family, std::string_view type,
                                std::string_view architecture) {
  return {.kind = kind,
          .family = family,
          .type = type,
          .architecture = architecture,
          .prefix = "bert.",
          .layers = "bert.encoder.layer.",
          .in_layer = {.query = "attention.self.query",
                       .key = "attention.self.key",
                       .value = "attention.self.value",
                       .out = "attention.output.dense",
                       .norm1 = "attention.output.LayerNorm",
                       .up = "intermediate.dense",
                       .down = "output.dense",
                       .norm2 = "output.LayerNorm"},
          .pooled = "bert.pooler.dense",
          .classifier = "classifier",
          .masked = {"cls.predictions.transform.dense", "cls.predictions.transform.LayerNorm", "cls.predictions.bias",
                     "cls.predictions.decoder.weight", "cls.predictions.decoder.bias"}};
}
constexpr BertDialect roberta() {
  BertDialect d = like_bert(BertKind::kRoberta, "RoBERTa", "roberta", "Roberta");
  d.prefix = "roberta.", d.layers = "roberta.encoder.layer.";
  d.pooled = "classifier.dense", d.classifier = "classifier.out_proj";
  d.heads.pooled_dropout = d.heads.masked_gelu = d.embeds.one_type = d.embeds.places_after_pad = true;
  d.masked = {"lm_head.dense", "lm_head.layer_norm", "lm_head.bias", "lm_head.decoder.weight", "lm_head.decoder.bias"};
  d.defaults = [](BertConfig& c) { c.type_vocab_size = 1, c.pad_token_id = 1; };
  return d;
}
/// RoBERTa in many languages; transformers names its tensors alike.
constexpr BertDialect xlm_roberta() {
  BertDialect d = roberta();
  d.kind = BertKind::kXlmRoberta, d.family = "XLM-RoBERTa", d.type = "xlm-roberta", d.architecture = "XLMRoberta";
  return d;
}
/// RoBERTa in French.
constexpr BertDialect camembert() {
  BertDialect d = roberta();
  d.kind = BertKind::kCamembert, d.family = "CamemBERT", d.type = "camembert", d.architecture = "Camembert";
  return d;
}
constexpr BertDialect electra() {
  BertDialect d = like_bert(BertKind::kElectra, "ELECTRA", "electra", "Electra");
  d.prefix = "electra.", d.layers = "electra.encoder.layer.";
  d.pooled = "classifier.dense", d.classifier = "classifier.out_proj", d.heads.pooled_fn = isa::Fn::kGelu;
  d.heads.pooled_dropout = d.heads.masked_gelu = true, d.projection = "electra.embeddings_project";
  d.masked = {"generator_predictions.dense", "generator_predictions.LayerNorm", "generator_lm_head.bias",
              "generator_lm_head.weight", ""};
  return d;
}
constexpr BertDialect albert() {
  BertDialect d = like_bert(BertKind::kAlbert, "ALBERT", "albert", "Albert");
  d.prefix = "albert.", d.layers = "albert.encoder.albert_layer_groups.0.albert_layers.0.";
  d.in_layer.query = "attention.query", d.in_layer.key = "attention.key", d.in_layer.value = "attention.value",
  d.in_layer.out = "attention.dense";
  d.in_layer.norm1 = "attention.LayerNorm", d.in_layer.up = "ffn", d.in_layer.down = "ffn_output",
  d.in_layer.norm2 = "full_layer_layer_norm";
  d.pooled = "albert.pooler", d.projection = "albert.encoder.embedding_hidden_mapping_in";
  d.one_layer = true;
  d.defaults = [](BertConfig& c) {
    c.hidden_act = Activation::kGeluTanh;
    c.hidden_dropout_prob = c.attention_probs_dropout_prob = 0, c.classifier_dropout = 0.1;
  };
  d.masked = {"predictions.dense", "predictions.LayerNorm", "predictions.bias", "predictions.decoder.weight",
              "predictions.decoder.bias"};
  return d;
}
constexpr BertDialect kDistilBert{
    .kind = BertKind::kDistilBert,
    .family = "DistilBERT",
    .type = "distilbert",
    .architecture = "DistilBert",
    .prefix = "distilbert.",
    .layers = "distilbert.transformer.layer.",
    .in_layer = {.query = "attention.q_lin",
                 .key = "attention.k_lin",
                 .value = "attention.v_lin",
                 .out = "attention.out_lin",
                 .norm1 = "sa_layer_norm",
                 .up = "ffn.lin1",
                 .down = "ffn.lin2",
                 .norm2 = "output_layer_norm"},
    .pooled = "pre_classifier",
    .classifier = "classifier",
    .masked = {"vocab_transform", "vocab_layer_norm", "vocab_projector.bias", "vocab_projector.weight", ""},
    .embedding = {.types = ""},
    .heads = {.pooled_fn = isa::Fn::kRelu},
    .keys = BertKeys::kDistilBert,
    .defaults = [](BertConfig& c) { c.classifier_dropout = 0.2; }};

/// RoBERTa's layers with their norms in front of their parts.
constexpr BertDialect xlm_roberta_xl() {
  BertDialect d = roberta();
  d.kind = BertKind::kXlmRobertaXl, d.family = "XLM-RoBERTa-XL", d.type = "xlm-roberta-xl";
  d.architecture = "XLMRobertaXL";
  d.norms = NormPlace::kBefore, d.embedding.norm = "", d.last_norm = "roberta.encoder.LayerNorm";
  d.in_layer.norm1 = "attention.self_attn_layer_norm", d.in_layer.norm2 = "LayerNorm";
  d.defaults = [](BertConfig& c) { c.type_vocab_size = 1, c.pad_token_id = 1, c.layer_norm_eps = 1e-5; };
  return d;
}
constexpr BertDialect roberta_pre_layer_norm() {
  BertDialect d = roberta();
  d.kind = BertKind::kRobertaPreLayerNorm, d.family = "RoBERTa-PreLayerNorm", d.type = "roberta-prelayernorm";
  d.architecture = "RobertaPreLayerNorm";
  d.prefix = "roberta_prelayernorm.", d.layers = "roberta_prelayernorm.encoder.layer.";
  d.norms = NormPlace::kBefore, d.last_norm = "roberta_prelayernorm.LayerNorm";
  d.in_layer.norm1 = "attention.LayerNorm", d.in_layer.norm2 = "intermediate.LayerNorm";
  return d;
}
constexpr BertDialect data2vec_text() {
  BertDialect d = roberta();
  d.kind = BertKind::kData2VecText, d.family = "Data2Vec-Text", d.type = "data2vec-text";
  d.architecture = "Data2VecText";
  d.prefix = "data2vec_text.", d.layers = "data2vec_text.encoder.layer.";
  return d;
}
constexpr BertDialect megatron_bert() {
  BertDialect d = like_bert(BertKind::kMegatronBert, "Megatron-BERT", "megatron-bert", "MegatronBert");
  d.norms = NormPlace::kBefore, d.embedding.norm = "", d.last_norm = "bert.encoder.ln";
  d.in_layer.norm1 = "attention.ln", d.in_layer.norm2 = "ln";
  d.heads.dropout_key = false;
  return d;
}
/// Rivers et al., arXiv:2301.06568 of ESM-2: proteins, one token for each amino acid.
constexpr BertDialect esm() {
  BertDialect d = roberta();
  d.kind = BertKind::kEsm, d.family = "ESM", d.type = "esm", d.architecture = "Esm";
  d.prefix = "esm.", d.layers = "esm.encoder.layer.";
  d.norms = NormPlace::kBefore, d.last_norm = "esm.encoder.emb_layer_norm_after";
  d.in_layer.norm1 = "attention.LayerNorm", d.in_layer.norm2 = "LayerNorm";
  d.embedding.types = "", d.embedding.norm = "embeddings.layer_norm";
  d.embeds.one_type = d.embeds.dropout = d.heads.dropout_key = false;
  d.defaults = [](BertConfig& c) { c.norm_before = false; };
  return d;
}
/// Song et al., arXiv:2004.09297.
constexpr BertDialect mpnet() {
  BertDialect d = roberta();
  d.kind = BertKind::kMpnet, d.family = "MPNet", d.type = "mpnet", d.architecture = "MPNet";
  d.prefix = "mpnet.", d.layers = "mpnet.encoder.layer.", d.relative = "mpnet.encoder.relative_attention_bias";
  d.in_layer.query = "attention.attn.q", d.in_layer.key = "attention.attn.k", d.in_layer.value = "attention.attn.v";
  d.in_layer.out = "attention.attn.o", d.in_layer.norm1 = "attention.LayerNorm";
  d.embedding.types = "", d.embeds.one_type = d.heads.dropout_key = false;
  d.defaults = [](BertConfig& c) { c.pad_token_id = 1; };
  return d;
}
/// Chung et al., arXiv:2010.12821.
constexpr BertDialect rembert() {
  BertDialect d = like_bert(BertKind::kRemBert, "RemBERT", "rembert", "RemBert");
  d.prefix = "rembert.", d.layers = "rembert.encoder.layer.", d.pooled = "rembert.pooler.dense";
  d.projection = "rembert.encoder.embedding_hidden_mapping_in";
  d.masked = {"cls.predictions.dense",
              "cls.predictions.LayerNorm",
              "cls.predictions.decoder.bias",
              "cls.predictions.decoder.weight",
              "",
              true};
  d.defaults = [](BertConfig& c) {
    c.embedding_size = 256, c.output_embedding_size = 1664;
    c.hidden_dropout_prob = c.attention_probs_dropout_prob = 0, c.classifier_dropout = 0.1;
  };
  return d;
}
constexpr BertDialect ernie() {
  BertDialect d = like_bert(BertKind::kErnie, "ERNIE", "ernie", "Ernie");
  d.prefix = "ernie.", d.layers = "ernie.encoder.layer.", d.pooled = "ernie.pooler.dense";
  return d;
}
/// Warner et al., arXiv:2412.13663.
constexpr BertDialect kModernBert{.kind = BertKind::kModernBert,
                                  .family = "ModernBERT",
                                  .type = "modernbert",
                                  .architecture = "ModernBert",
                                  .prefix = "model.",
                                  .layers = "model.layers.",
                                  .in_layer = {.query = "attn.query",
                                               .key = "attn.key",
                                               .value = "attn.value",
                                               .out = "attn.Wo",
                                               .norm1 = "attn_norm",
                                               .up = "mlp.up",
                                               .down = "mlp.Wo",
                                               .norm2 = "mlp_norm",
                                               .fused = "attn.Wqkv",
                                               .gate = "mlp.gate",
                                               .fused_gate = "mlp.Wi"},
                                  .pooled = "head.dense",
                                  .classifier = "classifier",
                                  .masked = {"head.dense", "head.norm", "decoder.bias", "decoder.weight", ""},
                                  .embedding = {"embeddings.tok_embeddings", "", "", "embeddings.norm"},
                                  .last_norm = "model.final_norm",
                                  .norms = NormPlace::kBefore,
                                  .embeds = {.norm_is_first = true},
                                  .heads = {.norm = "head.norm"},
                                  .keys = BertKeys::kModernBert,
                                  .defaults = [](BertConfig& c) {
                                    c.rotary = true, c.global_theta = 160000, c.full_every = 3, c.local_attention = 128;
                                    c.norm_bias = c.attention_bias = c.mlp_bias = c.classifier_bias = false;
                                    c.hidden_dropout_prob = c.attention_probs_dropout_prob = 0,
                                    c.classifier_dropout = 0;
                                    c.layer_norm_eps = 1e-5, c.pad_token_id = 50283, c.max_position_embeddings = 8192;
                                  }};
/// Conneau and Lample, arXiv:1901.07291.
constexpr BertDialect kXlm{
    .kind = BertKind::kXlm,
    .family = "XLM",
    .type = "xlm",
    .architecture = "XLM",
    .prefix = "transformer.",
    .layers = "transformer.layers.",
    .in_layer = {.query = "attentions.q_lin",
                 .key = "attentions.k_lin",
                 .value = "attentions.v_lin",
                 .out = "attentions.out_lin",
                 .norm1 = "layer_norm1",
                 .up = "ffns.lin1",
                 .down = "ffns.lin2",
                 .norm2 = "layer_norm2",
                 .numbered_behind = true},
    .pooled = "",
    .classifier = "sequence_summary.summary",
    .masked = {"", "", "pred_layer.proj.bias", "pred_layer.proj.weight", ""},
    .embedding = {"embeddings", "position_embeddings", "", "layer_norm_emb"},
    .heads = {.masked_suffix = "WithLMHeadModel"},
    .keys = BertKeys::kXlm,
    .defaults = [](BertConfig& c) { c.classifier_dropout = 0.1, c.pad_token_id = 2, c.max_position_embeddings = 512; }};
constexpr BertDialect flaubert() {
  BertDialect d = kXlm;
  d.kind = BertKind::kFlaubert, d.family = "FlauBERT", d.type = "flaubert", d.architecture = "Flaubert";
  return d;
}
/// Su et al., arXiv:2104.09864: ELECTRA's heads and widths behind rotary positions.
constexpr BertDialect roformer() {
  BertDialect d = electra();
  d.kind = BertKind::kRoFormer, d.family = "RoFormer", d.type = "roformer", d.architecture = "RoFormer";
  d.prefix = "roformer.", d.layers = "roformer.encoder.layer.", d.projection = "roformer.embeddings_project";
  d.embedding.positions = "", d.heads.masked_gelu = d.heads.dropout_key = false;
  d.masked = like_bert(BertKind::kRoFormer, "", "", "").masked;
  d.defaults = [](BertConfig& c) { c.rotary = c.neighbours = true, c.max_position_embeddings = 1536; };
  return d;
}
/// He et al., arXiv:2111.09543.
constexpr BertDialect deberta_v2() {
  BertDialect d = like_bert(BertKind::kDebertaV2, "DeBERTa-v2", "deberta-v2", "DebertaV2");
  d.prefix = "deberta.", d.layers = "deberta.encoder.layer.", d.pooled = "pooler.dense";
  d.in_layer.query = "attention.self.query_proj", d.in_layer.key = "attention.self.key_proj";
  d.in_layer.value = "attention.self.value_proj";
  d.in_layer.place_key = "attention.self.pos_key_proj", d.in_layer.place_query = "attention.self.pos_query_proj";
  d.embedding.places = "encoder.rel_embeddings", d.embedding.places_norm = "encoder.LayerNorm";
  d.embedding.convolution = "encoder.conv.conv", d.embedding.convolution_norm = "encoder.conv.LayerNorm";
  d.projection = "deberta.embeddings.embed_proj", d.heads.pooled_fn = isa::Fn::kGelu, d.keys = BertKeys::kDeberta;
  d.defaults = [](BertConfig& c) { c.type_vocab_size = 0, c.layer_norm_eps = 1e-7; };
  return d;
}
/// He et al., arXiv:2006.03654.
constexpr BertDialect deberta() {
  BertDialect d = deberta_v2();
  d.kind = BertKind::kDeberta, d.family = "DeBERTa", d.type = "deberta", d.architecture = "Deberta";
  d.in_layer.query = "attention.self.query", d.in_layer.key = "attention.self.key";
  d.in_layer.value = "attention.self.value", d.in_layer.fused = "attention.self.in_proj";
  d.in_layer.query_bias = "attention.self.q_bias", d.in_layer.value_bias = "attention.self.v_bias";
  d.in_layer.place_key = "attention.self.pos_proj", d.in_layer.place_query = "attention.self.pos_q_proj";
  return d;
}
/// Zhang et al., arXiv:2407.19669: GTE, with a gate in each layer and rotary positions; Alibaba-NLP's modeling.py.
constexpr BertDialect alibaba_new() {
  BertDialect d = like_bert(BertKind::kNew, "GTE", "new", "New");
  d.prefix = "new.", d.layers = "new.encoder.layer.", d.pooled = "new.pooler.dense";
  d.in_layer = {.query = "attention.q_proj",
                .key = "attention.k_proj",
                .value = "attention.v_proj",
                .out = "attention.o_proj",
                .norm1 = "attn_ln",
                .up = "mlp.up_proj",
                .down = "mlp.down_proj",
                .norm2 = "mlp_ln",
                .fused = "attention.qkv_proj",
                .gate = "mlp.gate_proj",
                .fused_gate = "mlp.up_gate_proj",
                .drops_inside = true,
                .gate_last = true};
  d.masked = {"lm_head.dense", "lm_head.norm", "lm_head.decoder.bias", "lm_head.decoder.weight", ""};
  d.keys = BertKeys::kNew;
  d.defaults = [](BertConfig& c) {
    c.rotary = true, c.mlp_bias = false, c.down_bias = true, c.type_vocab_size = 1, c.attention_probs_dropout_prob = 0;
  };
  return d;
}
/// Yu et al., arXiv:2412.04506: Snowflake's copy of it.
constexpr BertDialect snowflake_gte() {
  BertDialect d = alibaba_new();
  d.kind = BertKind::kGte, d.family = "Arctic-Embed's GTE", d.type = "gte", d.architecture = "Gte";
  d.prefix = "gte.", d.layers = "gte.encoder.layer.", d.pooled = "gte.pooler.dense";
  return d;
}
/// Nussbaum et al., arXiv:2402.01613; nomic-ai's modeling_hf_nomic_bert.py.
constexpr BertDialect nomic_bert() {
  BertDialect d = like_bert(BertKind::kNomic, "NomicBERT", "nomic_bert", "NomicBert");
  d.layers = "bert.encoder.layers.";
  d.in_layer = {.query = "attn.query",
                .key = "attn.key",
                .value = "attn.value",
                .out = "attn.out_proj",
                .norm1 = "norm1",
                .up = "mlp.fc11",
                .down = "mlp.fc2",
                .norm2 = "norm2",
                .fused = "attn.Wqkv",
                .gate = "mlp.fc12"};
  d.embedding.norm = "emb_ln";
  d.masked = {"cls.predictions.transform.dense", "cls.predictions.transform.layer_norm", "cls.predictions.decoder.bias",
              "cls.predictions.decoder.weight", ""};
  d.heads.masked_suffix = "ForPreTraining", d.keys = BertKeys::kNomic;
  d.defaults = [](BertConfig& c) { c.rotary = true, c.layer_norm_eps = 1e-5, c.classifier_dropout = 0.1; };
  return d;
}
constexpr std::array kBertDialects = {alibaba_new(),
                                      snowflake_gte(),
                                      nomic_bert(),
                                      roformer(),
                                      deberta(),
                                      deberta_v2(),
                                      like_bert(BertKind::kBert, "BERT", "bert", "Bert"),
                                      roberta(),
                                      kDistilBert,
                                      electra(),
                                      albert(),
                                      xlm_roberta(),
                                      camembert(),
                                      xlm_roberta_xl(),
                                      roberta_pre_layer_norm(),
                                      data2vec_text(),
                                      megatron_bert(),
                                      esm(),
                                      mpnet(),
                                      rembert(),
                                      ernie(),
                                      kModernBert,
                                      kXlm,
                                      flaubert(),
                                      kEuroBert,
                                      kEmbeddingGemma};

}  // namespace

BertConfig blank_bert_config(BertKind kind) {
  BertConfig c;
  c.kind = kind;
  if (const auto set = dialect_of(kind).defaults) set(c);
  return c;
}

const BertDialect& dialect_of(BertKind kind) { return *std::ranges::find(kBertDialects, kind, &BertDialect::kind); }

std::string BertDialect::layer(std::int64_t number) const {
  return one_layer ? std::string{layers} : fmt::format("{}{}.", layers, number);
}

bool has_projection(const BertConfig& c) {
  const BertDialect& dialect = dialect_of(c.kind);
  const bool always = dialect.one_layer || (dialect.masked.own_table && !dialect.projection.empty());
  return always || c.embedding_width() != c.hidden_size;
}

std::string classifier_of(const BertConfig& c) {
  const BertDialect& dialect = dialect_of(c.kind);
  return c.head == Head::kTokens && !dialect.heads.same_layer ? "classifier" : std::string{dialect.classifier};
}

std::int64_t masked_width(const BertConfig& c) {
  return c.output_embedding_size > 0 ? c.output_embedding_size : c.embedding_width();
}

/// As published models have it.
ModelPtr blank_bert(BertKind kind) {
  BertConfig c = blank_bert_config(kind);
  if (dialect_of(kind).embeds.places_after_pad) c.layer_norm_eps = 1e-5;
  if (kind == BertKind::kAlbert) c.embedding_size = 128;
  return make_model(std::move(c));
}

}  // namespace workloads
