#include "workloads/config.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "base/error.h"
#include "base/files.h"
#include "base/suggest.h"
#include "workloads/json_file.h"

namespace workloads {
namespace {

using base::Error;
using base::Fault;
using nlohmann::json;
namespace fs = std::filesystem;

struct ActivationName {
  std::string_view name;
  Activation activation;
};
/// The first name of an activation is the one we write. "gelu_new" is the same tanh formula written out.
constexpr std::array kActivations = {
    ActivationName{"gelu", Activation::kGelu}, ActivationName{"gelu_pytorch_tanh", Activation::kGeluTanh},
    ActivationName{"gelu_new", Activation::kGeluTanh}, ActivationName{"silu", Activation::kSilu}};

/// The keys of one config.json, each read with its type checked.
class Keys {
 public:
  explicit Keys(const fs::path& file) : file_{file}, json_(read_json_file(file)) {  // braces would make an array
    if (!json_.is_object()) fail("is not a JSON object", "use the config.json of a model");
  }

  bool has(const char* key) const { return json_.contains(key) && !json_.at(key).is_null(); }
  const json& at(const char* key) const { return json_.at(key); }

  void required(const char* key, std::int64_t& value) const {
    if (!has(key)) fail(fmt::format("has no \"{}\"", key), fmt::format("add \"{}\" with its value", key));
    optional(key, value);
  }
  void optional(const char* key, std::int64_t& value) const {
    if (!has(key)) return;
    if (!at(key).is_number_integer()) wrong_type(key, "a whole number");
    value = at(key).get<std::int64_t>();
  }
  void optional(const char* key, double& value) const {
    if (!has(key)) return;
    if (!at(key).is_number()) wrong_type(key, "a number");
    value = at(key).get<double>();
  }
  void optional(const char* key, bool& value) const {
    if (!has(key)) return;
    if (!at(key).is_boolean()) wrong_type(key, "true or false");
    value = at(key).get<bool>();
  }
  void optional(const char* key, Activation& value, std::initializer_list<Activation> legal) const {
    if (!has(key)) return;
    std::vector<std::string> names;
    for (const auto& row : kActivations)
      if (std::ranges::find(legal, row.activation) != legal.end()) names.emplace_back(row.name);
    const std::string name = at(key).is_string() ? at(key).get<std::string>() : at(key).dump();
    if (std::ranges::find(names, name) == names.end()) {
      fail(fmt::format("\"{}\" is the unknown activation \"{}\"", key, name),
           fmt::format("use one of: {}", fmt::join(names, ", ")));
    }
    value = std::ranges::find(kActivations, name, &ActivationName::name)->activation;
  }
  /// A key that, if it is there, must have this value: any other would need another model than ours.
  void only(const char* key, const json& value) const {
    if (has(key) && at(key) != value)
      fail(fmt::format("\"{}\" is {}; only {} is modelled", key, at(key).dump(), value.dump()),
           "use a model without it");
  }
  [[noreturn]] void fail(std::string_view what, std::string_view fix) const {
    throw Error{Fault::kData, file_.string(), what, fix};
  }
  std::string where() const { return file_.string(); }

 private:
  [[noreturn]] void wrong_type(const char* key, std::string_view wanted) const {
    fail(fmt::format("\"{}\" is {}, which is not {}", key, at(key).dump(), wanted),
         fmt::format("write {} there", wanted));
  }

  fs::path file_;
  json json_;
};

/// From id2label if it is there (its keys are "0", "1", ...), else from num_labels, else Hugging Face's two.
std::vector<std::string> read_label_names(const Keys& keys) {
  std::int64_t count = 2;
  keys.optional("num_labels", count);
  if (count < 1 || count > 1'000'000) keys.fail(fmt::format("\"num_labels\" is {}", count), "write 1 or more");
  std::vector<std::string> names;
  if (!keys.has("id2label")) {
    for (std::int64_t i = 0; i < count; ++i) names.push_back(fmt::format("LABEL_{}", i));
    return names;
  }
  const json& map = keys.at("id2label");
  for (std::size_t i = 0; map.is_object() && i < map.size(); ++i) {
    const auto at = map.find(std::to_string(i));
    if (at == map.end() || !at->is_string()) break;
    names.push_back(at->get<std::string>());
  }
  if (names.empty() || names.size() != map.size() ||
      (keys.has("num_labels") && names.size() != static_cast<std::size_t>(count)))
    keys.fail("\"id2label\" does not name every label from 0 on once, as text", "write {\"0\": \"name\", \"1\": ...}");
  return names;
}

BertConfig read_bert(const Keys& keys) {
  BertConfig c;
  keys.required("vocab_size", c.vocab_size);
  keys.required("hidden_size", c.hidden_size);
  keys.required("num_hidden_layers", c.num_hidden_layers);
  keys.required("num_attention_heads", c.num_attention_heads);
  keys.required("intermediate_size", c.intermediate_size);
  keys.required("max_position_embeddings", c.max_position_embeddings);
  keys.optional("type_vocab_size", c.type_vocab_size);
  keys.optional("pad_token_id", c.pad_token_id);
  keys.optional("hidden_act", c.hidden_act, {Activation::kGelu, Activation::kGeluTanh});
  keys.optional("layer_norm_eps", c.layer_norm_eps);
  keys.optional("initializer_range", c.initializer_range);
  keys.optional("hidden_dropout_prob", c.hidden_dropout_prob);
  keys.optional("attention_probs_dropout_prob", c.attention_probs_dropout_prob);
  if (keys.has("classifier_dropout")) keys.optional("classifier_dropout", c.classifier_dropout.emplace());
  keys.only("position_embedding_type", "absolute");
  keys.only("is_decoder", false);
  c.label_names = read_label_names(keys);
  check(c, keys.where());
  return c;
}

LlamaConfig read_llama(const Keys& keys) {
  LlamaConfig c;
  keys.required("vocab_size", c.vocab_size);
  keys.required("hidden_size", c.hidden_size);
  keys.required("num_hidden_layers", c.num_hidden_layers);
  keys.required("num_attention_heads", c.num_attention_heads);
  keys.required("intermediate_size", c.intermediate_size);
  keys.required("max_position_embeddings", c.max_position_embeddings);
  c.num_key_value_heads = c.num_attention_heads;
  keys.optional("num_key_value_heads", c.num_key_value_heads);
  c.head_dim = c.num_attention_heads > 0 ? c.hidden_size / c.num_attention_heads : 0;
  keys.optional("head_dim", c.head_dim);
  keys.optional("hidden_act", c.hidden_act, {Activation::kSilu});
  keys.optional("rms_norm_eps", c.rms_norm_eps);
  keys.optional("rope_theta", c.rope_theta);
  keys.optional("initializer_range", c.initializer_range);
  keys.optional("tie_word_embeddings", c.tie_word_embeddings);
  keys.only("attention_bias", false);
  keys.only("mlp_bias", false);
  if (keys.has("rope_scaling"))
    keys.fail("\"rope_scaling\" is not modelled", "use a model without scaled rotary embedding");
  check(c, keys.where());
  return c;
}

/// Collects the first broken rule of a configuration.
class Rules {
 public:
  explicit Rules(std::string_view where) : where_{where} {}
  void positive(const char* key, std::int64_t value, std::int64_t most = 1 << 24) const {
    if (value < 1 || value > most) fail(key, fmt::format("{} is not in 1..{}", value, most));
  }
  void positive(const char* key, double value) const {
    if (!(value > 0 && value < 1e12)) fail(key, fmt::format("{} is not a positive number", value));
  }
  void probability(const char* key, double value) const {
    if (!(value >= 0 && value < 1)) fail(key, fmt::format("{} is not in [0, 1)", value));
  }
  void divides(const char* key, std::int64_t value, const char* into_key, std::int64_t into) const {
    if (into % value != 0) fail(key, fmt::format("{} does not divide {} {}", value, into_key, into));
  }

 private:
  [[noreturn]] void fail(const char* key, const std::string& what) const {
    throw Error{Fault::kData, where_, fmt::format("\"{}\": {}", key, what),
                "correct it to the value the model was made with"};
  }
  std::string where_;
};

fs::path config_file(const fs::path& path) { return fs::is_directory(path) ? path / "config.json" : path; }

/// Old files name no model_type, but their architectures begin with it.
std::string model_type(const Keys& keys) {
  if (keys.has("model_type") && keys.at("model_type").is_string()) return keys.at("model_type");
  const std::string made = keys.has("architectures") ? keys.at("architectures").dump() : "";
  if (made.starts_with("[\"Bert")) return "bert";
  if (made.starts_with("[\"Llama")) return "llama";
  keys.fail("has no \"model_type\"", "add \"model_type\": \"bert\" or \"llama\"");
}

}  // namespace

std::string_view name_of(Activation activation) {
  return std::ranges::find(kActivations, activation, &ActivationName::activation)->name;
}

ModelConfig read_config(const fs::path& file_or_folder) {
  const Keys keys{config_file(file_or_folder)};
  const std::string type = model_type(keys);
  if (type == "bert") return read_bert(keys);
  if (type == "llama") return read_llama(keys);
  keys.fail(fmt::format("\"model_type\" is \"{}\"", type), "use a model of type bert or llama");
}

BertConfig read_bert_config(const fs::path& file_or_folder) {
  if (const auto config = read_config(file_or_folder); const auto* bert = std::get_if<BertConfig>(&config))
    return *bert;
  throw Error{Fault::kData, config_file(file_or_folder).string(), "is a Llama model", "use a model of type bert here"};
}

LlamaConfig read_llama_config(const fs::path& file_or_folder) {
  if (const auto config = read_config(file_or_folder); const auto* llama = std::get_if<LlamaConfig>(&config))
    return *llama;
  throw Error{Fault::kData, config_file(file_or_folder).string(), "is a BERT model", "use a model of type llama here"};
}

void check(const BertConfig& c, std::string_view where) {
  const Rules rules{where};
  rules.positive("vocab_size", c.vocab_size);
  rules.positive("hidden_size", c.hidden_size);
  rules.positive("num_hidden_layers", c.num_hidden_layers, 10'000);
  rules.positive("num_attention_heads", c.num_attention_heads);
  rules.positive("intermediate_size", c.intermediate_size);
  rules.positive("max_position_embeddings", c.max_position_embeddings);
  rules.positive("type_vocab_size", c.type_vocab_size);
  rules.positive("num_labels", c.num_labels());
  rules.divides("num_attention_heads", c.num_attention_heads, "hidden_size", c.hidden_size);
  if (c.pad_token_id != 0) rules.positive("pad_token_id", c.pad_token_id, c.vocab_size - 1);
  rules.positive("layer_norm_eps", c.layer_norm_eps);
  rules.positive("initializer_range", c.initializer_range);
  rules.probability("hidden_dropout_prob", c.hidden_dropout_prob);
  rules.probability("attention_probs_dropout_prob", c.attention_probs_dropout_prob);
  rules.probability("classifier_dropout", c.classifier_dropout.value_or(0));
}

void check(const LlamaConfig& c, std::string_view where) {
  const Rules rules{where};
  rules.positive("vocab_size", c.vocab_size);
  rules.positive("hidden_size", c.hidden_size);
  rules.positive("num_hidden_layers", c.num_hidden_layers, 10'000);
  rules.positive("num_attention_heads", c.num_attention_heads);
  rules.positive("num_key_value_heads", c.num_key_value_heads);
  rules.positive("head_dim", c.head_dim);
  rules.positive("intermediate_size", c.intermediate_size);
  rules.positive("max_position_embeddings", c.max_position_embeddings);
  rules.divides("num_key_value_heads", c.num_key_value_heads, "num_attention_heads", c.num_attention_heads);
  rules.divides("head_dim", 2, "head_dim", c.head_dim);  // rotary embedding turns pairs
  rules.positive("rms_norm_eps", c.rms_norm_eps);
  rules.positive("rope_theta", c.rope_theta);
  rules.positive("initializer_range", c.initializer_range);
}

std::vector<std::string> bert_preset_names() {
  return {"bert-base-uncased", "bert-base-cased", "bert-large-uncased", "bert-small"};
}

BertConfig bert_preset(std::string_view name) {
  const auto make = [](std::int64_t vocab, std::int64_t hidden, std::int64_t layers, std::int64_t heads) {
    BertConfig c;
    c.vocab_size = vocab;
    c.hidden_size = hidden;
    c.num_hidden_layers = layers;
    c.num_attention_heads = heads;
    c.intermediate_size = 4 * hidden;
    c.max_position_embeddings = 512;
    return c;
  };
  if (name == "bert-base-uncased") return make(30522, 768, 12, 12);
  if (name == "bert-base-cased") return make(28996, 768, 12, 12);
  if (name == "bert-large-uncased") return make(30522, 1024, 24, 16);
  if (name == "bert-small") return make(30522, 128, 2, 2);
  throw Error{Fault::kUsage, "model preset", fmt::format("\"{}\" is unknown", name),
              base::suggest_fix(name, bert_preset_names())};
}

std::string config_json(const BertConfig& c) {
  json ids = json::object(), labels = json::object();
  for (std::size_t i = 0; i < c.label_names.size(); ++i) {
    ids[std::to_string(i)] = c.label_names[i];
    labels[c.label_names[i]] = i;
  }
  const json file = {{"architectures", {"BertForSequenceClassification"}},
                     {"attention_probs_dropout_prob", c.attention_probs_dropout_prob},
                     {"classifier_dropout", c.classifier_dropout ? json(*c.classifier_dropout) : json()},
                     {"hidden_act", name_of(c.hidden_act)},
                     {"hidden_dropout_prob", c.hidden_dropout_prob},
                     {"hidden_size", c.hidden_size},
                     {"id2label", ids},
                     {"initializer_range", c.initializer_range},
                     {"intermediate_size", c.intermediate_size},
                     {"label2id", labels},
                     {"layer_norm_eps", c.layer_norm_eps},
                     {"max_position_embeddings", c.max_position_embeddings},
                     {"model_type", "bert"},
                     {"num_attention_heads", c.num_attention_heads},
                     {"num_hidden_layers", c.num_hidden_layers},
                     {"pad_token_id", c.pad_token_id},
                     {"position_embedding_type", "absolute"},
                     {"problem_type", "single_label_classification"},
                     {"torch_dtype", "float32"},
                     {"type_vocab_size", c.type_vocab_size},
                     {"vocab_size", c.vocab_size}};
  return file.dump(2) + "\n";
}

void write_config(const BertConfig& config, const fs::path& folder) {
  base::write_file(folder / "config.json", config_json(config));
}

}  // namespace workloads
