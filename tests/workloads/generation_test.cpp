#include "workloads/generation/generation.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>
#include <cmath>
#include <map>
#include <set>

#include "tests/tale.h"
#include "tests/workloads/support.h"

namespace workloads {
namespace {

using base::Fault;
using workloads_test::fails;
using workloads_test::fixture;

const std::array<float, 5> kLogits = {0, 2, 1, -INFINITY, 2};

std::map<std::int32_t, int> draws(const SamplingOptions& options, int count) {
  TokenSampler sampler{options, 0};
  std::map<std::int32_t, int> counts;
  for (int i = 0; i < count; ++i) ++counts[sampler.next(kLogits)];
  return counts;
}

TEST(TokenSampler, TemperatureZeroOrOneTokenIsTheFirstOfTheLikeliest) {
  EXPECT_EQ(draws({.temperature = 0}, 10), (std::map<std::int32_t, int>{{1, 10}}));
  EXPECT_EQ(draws({.top_k = 1}, 10), (std::map<std::int32_t, int>{{1, 10}}));
  EXPECT_EQ(draws({.top_p = 1e-9}, 10), (std::map<std::int32_t, int>{{1, 10}}));
}

TEST(TokenSampler, DrawsFollowTheSoftmax) {
  constexpr int kDraws = 40'000;
  for (const double temperature : {1.0, 2.0, 0.5}) {
    std::array<double, 5> p{};
    double sum = 0;
    for (std::size_t i = 0; i < p.size(); ++i) sum += p[i] = std::exp(kLogits[i] / temperature);
    const auto counts = draws({.temperature = temperature}, kDraws);
    for (std::size_t i = 0; i < p.size(); ++i) {
      const double expected = kDraws * p[i] / sum;
      const auto at = counts.find(static_cast<std::int32_t>(i));
      // Binomial: 5 sigma.
      EXPECT_NEAR(at == counts.end() ? 0 : at->second, expected, 5 * std::sqrt(expected * (1 - p[i] / sum))) << i;
    }
  }
}

TEST(TokenSampler, TopKAndTopPKeepTheLikeliest) {
  const auto kept = [](const SamplingOptions& options) {
    std::set<std::int32_t> tokens;
    for (const auto& [token, count] : draws(options, 2000)) tokens.insert(token);
    return tokens;
  };
  // Probabilities of tokens 1, 4, 2, 0: 0.399, 0.399, 0.147, 0.054.
  EXPECT_EQ(kept({.top_k = 2}), (std::set<std::int32_t>{1, 4}));
  EXPECT_EQ(kept({.top_k = 100}), (std::set<std::int32_t>{0, 1, 2, 4}));
  EXPECT_EQ(kept({.top_p = 0.39}), (std::set<std::int32_t>{1}));
  EXPECT_EQ(kept({.top_p = 0.41}), (std::set<std::int32_t>{1, 4}));
  EXPECT_EQ(kept({.top_p = 0.9}), (std::set<std::int32_t>{1, 2, 4}));
  EXPECT_EQ(kept({.top_k = 3, .top_p = 0.8}), (std::set<std::int32_t>{1, 4}));  // of the three kept: 0.42 each
}

TEST(TokenSampler, ASequenceHasItsOwnReproducibleNumbers) {
  const auto sequence = [](std::uint64_t seed, std::uint64_t index) {
    TokenSampler sampler{{.seed = seed}, index};
    std::vector<std::int32_t> tokens;
    for (int i = 0; i < 50; ++i) tokens.push_back(sampler.next(kLogits));
    return tokens;
  };
  EXPECT_EQ(sequence(1, 0), sequence(1, 0));
  EXPECT_NE(sequence(1, 0), sequence(2, 0));
  EXPECT_NE(sequence(1, 0), sequence(1, 1));
}

TEST(TokenSampler, BadOptionsAndLogitsAreRefused) {
  EXPECT_TRUE(fails(Fault::kUsage, [] { check(SamplingOptions{.temperature = -1}); }, {"`temperature`", "-1"}));
  EXPECT_TRUE(fails(Fault::kUsage, [] { check(SamplingOptions{.temperature = NAN}); }, {"`temperature`"}));
  EXPECT_TRUE(fails(Fault::kUsage, [] { check(SamplingOptions{.top_k = -2}); }, {"`top_k`"}));
  EXPECT_TRUE(fails(Fault::kUsage, [] { check(SamplingOptions{.top_p = 0}); }, {"`top_p`"}));
  TokenSampler sampler{{}, 0};
  EXPECT_TRUE(fails(Fault::kNumerics, [&] { sampler.next(std::array<float, 2>{0, NAN}); }, {"token 1", "nan"}));
  EXPECT_TRUE(fails(Fault::kNumerics, [&] { sampler.next(std::array<float, 1>{-INFINITY}); }, {"every logit"}));
}

TEST(TextStream, ThePartsMakeTheText) {
  for (const std::filesystem::path& name : {fixture("tokenizers/gpt2.json"), fixture("tokenizers/llama2.json"),
                                            fixture("tokenizers/tiny.model"), tests::tale()}) {
    const auto tokenizer = load_tokenizer(name);
    const std::string text = "Once upon a time \U0001F9FF\u00e9!";
    TextStream stream{*tokenizer, true};
    std::string got;
    for (const std::int32_t id : tokenizer->encode(text).ids) {
      const std::string part = stream.push(id);
      EXPECT_EQ(part.find("\uFFFD"), std::string::npos) << name;
      got += part;
    }
    EXPECT_EQ(got + stream.finish(), text) << name;
  }
}

TEST(TextStream, HalfACharacterComesOutAtTheEnd) {
  const auto tokenizer = load_tokenizer(fixture("tokenizers/gpt2.json"));
  std::vector<std::int32_t> ids = tokenizer->tokenize("a\U0001F9FF", "t");
  ids.pop_back();
  TextStream stream{*tokenizer, true};
  std::string got;
  for (const std::int32_t id : ids) got += stream.push(id);
  EXPECT_EQ(got, "a");
  EXPECT_EQ(stream.finish(), "\uFFFD");
}

TEST(TextStream, ABrokenRunOfBytesStaysUtf8) {
  const auto tokenizer = load_tokenizer(fixture("tokenizers/llama2.json"));
  std::vector<std::int32_t> ids = tokenizer->tokenize("\U0001F9FF", "t");
  ids.push_back(ids[1]);  // a first byte that nothing follows: now the whole run decodes to U+FFFD
  const std::vector<std::int32_t> end = tokenizer->tokenize("a", "t");
  ids.insert(ids.end(), end.begin(), end.end());
  TextStream stream{*tokenizer, true};
  std::string got;
  for (const std::int32_t id : ids) got += stream.push(id);
  EXPECT_EQ(got + stream.finish(), "\U0001F9FF\uFFFD\uFFFD\uFFFD\uFFFD a");
}

}  // namespace
}  // namespace workloads
