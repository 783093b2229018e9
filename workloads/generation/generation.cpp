#include "workloads/generation/generation.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numeric>

#include "base/error.h"
#include "workloads/text/utf8.h"

namespace workloads {
namespace {

using base::Error;
using base::Fault;

constexpr std::string_view kReplacement = "\uFFFD";

struct Candidate {
  std::int32_t token;
  double weight;  // not normalised
};

/// The likeliest first.
std::vector<Candidate> ranked(std::span<const float> logits, const SamplingOptions& options, float largest) {
  std::vector<Candidate> candidates(logits.size());
  for (std::size_t i = 0; i < logits.size(); ++i)
    candidates[i] = {static_cast<std::int32_t>(i),
                     std::exp((double{logits[i]} - double{largest}) / options.temperature)};
  const auto likelier = [](const Candidate& a, const Candidate& b) {
    return a.weight != b.weight ? a.weight > b.weight : a.token < b.token;
  };
  const auto all = static_cast<std::int64_t>(candidates.size());
  const std::int64_t kept = options.top_k == 0 ? all : std::min(options.top_k, all);
  std::partial_sort(candidates.begin(), candidates.begin() + kept, candidates.end(), likelier);
  candidates.resize(static_cast<std::size_t>(kept));
  return candidates;
}

double total(const std::vector<Candidate>& candidates) {
  return std::accumulate(candidates.begin(), candidates.end(), 0.0,
                         [](double sum, const Candidate& candidate) { return sum + candidate.weight; });
}

/// The fewest of the likeliest that reach `top_p`; always one.
void cut_to_probability(std::vector<Candidate>& candidates, double top_p) {
  const double wanted = top_p * total(candidates);
  double sum = 0;
  std::size_t kept = 0;
  while (kept < candidates.size() && (kept == 0 || sum < wanted)) sum += candidates[kept++].weight;
  candidates.resize(kept);
}

}  // namespace

void check(const SamplingOptions& options) {
  const auto refuse = [](std::string_view flag, const std::string& what, std::string_view fix) {
    throw Error{Fault::kUsage, flag, what, fix};
  };
  if (!(options.temperature >= 0 && std::isfinite(options.temperature)))
    refuse("`temperature`", fmt::format("{} is not 0 or more", options.temperature),
           "use 0 for the most likely token, 1 for the model's own probabilities");
  if (options.top_k < 0) refuse("`top_k`", fmt::format("{} is negative", options.top_k), "use 0 to keep all tokens");
  if (!(options.top_p > 0 && options.top_p <= 1))
    refuse("`top_p`", fmt::format("{} is not in (0, 1]", options.top_p), "use 1 to keep all tokens");
}

TokenSampler::TokenSampler(const SamplingOptions& options, std::uint64_t index)
    : options_{options}, random_{options.seed, stream_of("sampling") + index} {
  check(options);
}

std::int32_t TokenSampler::next(std::span<const float> logits) {
  base::ensure(!logits.empty(), "sampling", "no logits");
  const auto bad = std::ranges::find_if(logits, [](float v) { return std::isnan(v) || v == INFINITY; });
  const auto best = std::ranges::max_element(logits);
  if (bad != logits.end() || *best == -INFINITY)
    throw Error{Fault::kNumerics, "sampling",
                bad != logits.end() ? fmt::format("the logit of token {} is {}", bad - logits.begin(), *bad)
                                    : std::string{"every logit is -inf"},
                "use weights that were trained without divergence, or a wider number format"};
  if (options_.temperature == 0) return static_cast<std::int32_t>(best - logits.begin());
  std::vector<Candidate> candidates = ranked(logits, options_, *best);
  if (options_.top_p < 1) cut_to_probability(candidates, options_.top_p);
  double left = random_.uniform() * total(candidates);
  for (const Candidate& candidate : candidates) {
    left -= candidate.weight;
    if (left < 0) return candidate.token;
  }
  return candidates.front().token;  // the sum was rounded
}

std::string TextStream::push(std::int32_t id) {
  ids_.push_back(id);
  return emit(false);
}

std::string TextStream::finish() { return emit(true); }

std::string TextStream::emit(bool all) {
  const std::string text = tokenizer_.decode(ids_, skip_);
  std::size_t end = text.size();
  // Bytes that make no character yet show as U+FFFD at the end.
  while (!all && std::string_view{text}.substr(0, end).ends_with(kReplacement)) end -= kReplacement.size();
  // Counted in characters: a run of byte tokens that turns out to be broken changes characters already printed.
  std::size_t begin = 0;
  for (std::size_t i = 0; i < printed_ && begin < end; ++i) next_code_point(text, begin);
  const std::string added = text.substr(begin, end - begin);
  for (std::size_t at = 0; at < added.size(); ++printed_) next_code_point(added, at);
  return added;
}

}  // namespace workloads
