#include "workloads/checkpoints/llama2c.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <cstring>

#include "base/error.h"
#include "base/files.h"

namespace workloads {
namespace {

using base::Error;
using base::Fault;
static_assert(std::endian::native == std::endian::little, "the files are little-endian");

constexpr std::string_view kFix = "use a legacy (version 0) export of llama2.c, such as stories260K.bin";

LlamaConfig read_header(std::string_view file, const std::string& where) {
  std::array<std::int32_t, 7> header;
  if (file.size() < sizeof header) throw Error{Fault::kData, where, "is shorter than its header of 28 bytes", kFix};
  std::memcpy(header.data(), file.data(), sizeof header);
  constexpr std::int32_t kVersionedMagic = 0x616b3432;  // "ak42"
  if (header[0] == kVersionedMagic)
    throw Error{Fault::kData, where, fmt::format("is a llama2.c file of version {}", header[1]), kFix};
  LlamaConfig c;
  c.hidden_size = header[0];
  c.intermediate_size = header[1];
  c.num_hidden_layers = header[2];
  c.num_attention_heads = header[3];
  c.num_key_value_heads = header[4];
  c.vocab_size = std::abs(std::int64_t{header[5]});
  c.max_position_embeddings = header[6];
  c.tie_word_embeddings = header[5] > 0;  // a negative size says that the head has weights of its own
  c.head_dim = c.num_attention_heads > 0 ? c.hidden_size / c.num_attention_heads : 0;
  c.rms_norm_eps = 1e-5;
  c.eos_token_ids = {1, 2};  // run.c ends at the token that begins the next text
  check(c, where);
  if (c.head_dim * c.num_attention_heads != c.hidden_size)
    throw Error{Fault::kData, where, fmt::format("{} heads do not divide {}", c.num_attention_heads, c.hidden_size),
                kFix};
  return c;
}

/// Takes the tensors from front to back.
class Cursor {
 public:
  Cursor(std::string_view file, std::size_t at, const std::string& where) : file_{file}, at_{at}, where_{where} {}

  std::vector<float> take(const Shape& shape) {
    std::vector<float> values(element_count(shape));
    base::ensure(at_ + values.size() * sizeof(float) <= file_.size(), where_, "the size was checked before");
    std::memcpy(values.data(), file_.data() + at_, values.size() * sizeof(float));
    const auto bad = std::ranges::find_if_not(values, [](float v) { return std::isfinite(v); });
    if (bad != values.end())
      throw Error{Fault::kNumerics, where_,
                  fmt::format("holds {} at byte {}", *bad,
                              at_ + sizeof(float) * static_cast<std::size_t>(bad - values.begin())),
                  "use weights of a training run that did not diverge"};
    at_ += values.size() * sizeof(float);
    return values;
  }
  void skip(std::size_t floats) { at_ += floats * sizeof(float); }

 private:
  std::string_view file_;
  std::size_t at_;
  const std::string& where_;
};

/// Rows of each head from (0, 1), (2, 3), ... to all first elements of the pairs, then all second ones.
std::vector<float> halves_from_pairs(const std::vector<float>& weight, const LlamaConfig& c) {
  const auto head = static_cast<std::size_t>(c.head_dim), cols = static_cast<std::size_t>(c.hidden_size);
  std::vector<float> out(weight.size());
  for (std::size_t row = 0; row < weight.size() / cols; ++row) {
    const std::size_t first = row - row % head, j = row % head;
    const std::size_t from = first + (j < head / 2 ? 2 * j : 2 * (j - head / 2) + 1);
    std::copy_n(weight.begin() + static_cast<std::ptrdiff_t>(from * cols), cols,
                out.begin() + static_cast<std::ptrdiff_t>(row * cols));
  }
  return out;
}

/// The file holds each kind of tensor for all layers before the next kind.
constexpr std::array<std::string_view, 9> kLayerKinds = {
    "input_layernorm",          "self_attn.q_proj", "self_attn.k_proj", "self_attn.v_proj", "self_attn.o_proj",
    "post_attention_layernorm", "mlp.gate_proj",    "mlp.down_proj",    "mlp.up_proj"};  // w1, w2, w3

}  // namespace

Llama2cModel read_llama2c(const std::filesystem::path& path) {
  const std::string file = base::read_file(path), where = path.string();
  Llama2cModel model{read_header(file, where), {}};
  const LlamaConfig& c = model.config;
  std::map<std::string, Shape> shapes;
  for (const WeightSpec& spec : llama_weights(c)) shapes[spec.name] = spec.shape;
  const auto rotary_table = static_cast<std::size_t>(c.max_position_embeddings * c.head_dim);  // cos and sin, unused
  const std::size_t wanted = 28 + sizeof(float) * (parameter_count(llama_weights(c)) + rotary_table);
  if (file.size() != wanted)
    throw Error{Fault::kData, where, fmt::format("has {} bytes, but its header asks for {}", file.size(), wanted),
                kFix};
  Cursor cursor{file, 28, where};
  const auto take = [&](const std::string& name) { model.weights.values[name] = cursor.take(shapes.at(name)); };
  take("model.embed_tokens.weight");
  for (const std::string_view kind : kLayerKinds)
    for (std::int64_t layer = 0; layer < c.num_hidden_layers; ++layer) {
      const std::string name = fmt::format("model.layers.{}.{}.weight", layer, kind);
      take(name);
      std::vector<float>& values = model.weights.values[name];
      if (kind.ends_with("q_proj") || kind.ends_with("k_proj")) values = halves_from_pairs(values, c);
    }
  take("model.norm.weight");
  cursor.skip(rotary_table);
  if (!c.tie_word_embeddings) take("lm_head.weight");
  return model;
}

}  // namespace workloads
