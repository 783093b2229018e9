// stories260K, read and run by a plain forward pass in double precision: the reader, the reordered rotary rows, the
// rotary frequencies and the tokenizer have to be right together, or the text is not a story.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <string>

#include "tests/tale.h"
#include "tests/workloads/models.h"
#include "tests/workloads/support.h"
#include "workloads/checkpoints/llama2c.h"
#include "workloads/text/tokenizer.h"

namespace workloads {
namespace {

using workloads_test::fixture;
using Vector = std::vector<double>;

/// Hugging Face's Llama, one token after the other, with all keys and values kept.
class Reference {
 public:
  explicit Reference(const Llama2cModel& model)
      : c_{model.config},
        values_{model.weights.values},
        frequencies_{rope_frequencies(c_)},
        keys_(static_cast<std::size_t>(c_.num_hidden_layers)),
        memory_(keys_.size()) {}

  Vector logits(std::int32_t token) {
    const std::size_t width = size(c_.hidden_size);
    const auto& table = weight("model.embed_tokens");
    const auto row = table.begin() + static_cast<std::ptrdiff_t>(size(token) * width);
    Vector x(row, row + static_cast<std::ptrdiff_t>(width));
    for (std::size_t layer = 0; layer < keys_.size(); ++layer) {
      const std::string name = "model.layers." + std::to_string(layer) + ".";
      add(x, attention(layer, name + "self_attn.", normed(x, name + "input_layernorm")));
      const Vector h = normed(x, name + "post_attention_layernorm");
      Vector gate = times(name + "mlp.gate_proj", h);
      const Vector up = times(name + "mlp.up_proj", h);
      for (std::size_t i = 0; i < gate.size(); ++i) gate[i] = gate[i] / (1 + std::exp(-gate[i])) * up[i];
      add(x, times(name + "mlp.down_proj", gate));
    }
    ++position_;
    return times("model.embed_tokens", normed(x, "model.norm"));
  }

 private:
  static std::size_t size(std::int64_t n) { return static_cast<std::size_t>(n); }
  const std::vector<float>& weight(const std::string& name) const { return values_.at(name + ".weight"); }
  static void add(Vector& x, const Vector& y) {
    for (std::size_t i = 0; i < x.size(); ++i) x[i] += y[i];
  }

  Vector normed(const Vector& x, const std::string& name) const {
    double squares = 0;
    for (const double v : x) squares += v * v;
    const double scale = 1 / std::sqrt(squares / static_cast<double>(x.size()) + c_.rms_norm_eps);
    Vector y(x.size());
    for (std::size_t i = 0; i < x.size(); ++i) y[i] = x[i] * scale * double{weight(name)[i]};
    return y;
  }

  Vector times(const std::string& name, const Vector& x) const {
    const auto& w = weight(name);
    Vector y(w.size() / x.size());
    for (std::size_t row = 0; row < y.size(); ++row)
      for (std::size_t col = 0; col < x.size(); ++col) y[row] += double{w[row * x.size() + col]} * x[col];
    return y;
  }

  void rotate(Vector& x) const {
    const std::size_t head = size(c_.head_dim), half = head / 2;
    for (std::size_t start = 0; start < x.size(); start += head)
      for (std::size_t j = 0; j < half; ++j) {
        const double angle = frequencies_[j] * position_, a = x[start + j], b = x[start + j + half];
        x[start + j] = a * std::cos(angle) - b * std::sin(angle);
        x[start + j + half] = b * std::cos(angle) + a * std::sin(angle);
      }
  }

  Vector attention(std::size_t layer, const std::string& name, const Vector& x) {
    Vector q = times(name + "q_proj", x), k = times(name + "k_proj", x);
    rotate(q);
    rotate(k);
    keys_[layer].push_back(k);
    memory_[layer].push_back(times(name + "v_proj", x));
    const std::size_t head = size(c_.head_dim), group = size(c_.num_attention_heads / c_.num_key_value_heads);
    Vector out(q.size());
    for (std::size_t h = 0; h < size(c_.num_attention_heads); ++h) {
      const std::size_t at = h * head, shared = h / group * head;
      Vector weights;
      for (const Vector& key : keys_[layer]) {
        double score = 0;
        for (std::size_t j = 0; j < head; ++j) score += q[at + j] * key[shared + j];
        weights.push_back(std::exp(score / std::sqrt(static_cast<double>(head))));
      }
      double sum = 0;
      for (const double w : weights) sum += w;
      for (std::size_t t = 0; t < weights.size(); ++t)
        for (std::size_t j = 0; j < head; ++j) out[at + j] += weights[t] / sum * memory_[layer][t][shared + j];
    }
    return times(name + "o_proj", out);
  }

  const LlamaConfig& c_;
  const std::map<std::string, std::vector<float>>& values_;
  Vector frequencies_;
  std::vector<std::vector<Vector>> keys_, memory_;
  int position_ = 0;
};

TEST(Stories, GreedyTextFromAnEmptyPrompt) {
  if (tests::stories().empty()) GTEST_SKIP() << tests::kNoStories;
  const Llama2cModel model = read_llama2c(std::filesystem::path{tests::stories()} / "stories260K.bin");
  const auto tokenizer = load_tokenizer(tests::stories());
  Reference reference{model};
  std::vector<std::int32_t> ids = tokenizer->encode("").ids;
  ASSERT_EQ(ids.size(), 1u);
  while (ids.size() < 120) {
    const Vector logits = reference.logits(ids.back());
    ids.push_back(static_cast<std::int32_t>(std::ranges::max_element(logits) - logits.begin()));
  }
  const std::string text = tokenizer->decode(ids, true);
  EXPECT_TRUE(
      text.starts_with("Once upon a time, there was a little girl named Lily. She loved to play outside in the "
                       "park. One day, she saw a big, red ball. She wanted to play with it, but it was too high"))
      << text;
}

}  // namespace
}  // namespace workloads
