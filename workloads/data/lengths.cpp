#include "workloads/data/lengths.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <limits>

#include "base/error.h"
#include "base/text.h"

namespace workloads {
namespace {

using base::Error;
using base::Fault;

constexpr std::int64_t kGrain = 32;          // of fitted lengths
constexpr std::int64_t kCandidates = 128;    // that are tried, or less
constexpr double kWorthAProgram = 1.0 / 20;  // of the tokens

[[noreturn]] void refuse_buckets(std::string what, std::string fix) {
  throw Error{Fault::kUsage, "`buckets`", std::move(what), std::move(fix)};
}

/// Samples of at most `length` tokens, by candidate.
std::vector<std::int64_t> samples_within(const TokenLengths& data, const std::vector<std::int64_t>& candidates) {
  std::vector<std::int64_t> out;
  std::int64_t sum = 0;
  auto next = data.samples.begin();
  for (const std::int64_t length : candidates) {
    for (; next != data.samples.end() && next->first <= length; ++next) sum += next->second;
    out.push_back(sum);
  }
  out.back() = data.count();  // longer ones are cut
  return out;
}

/// The least tokens of the first samples in a given number of buckets of which the last is candidate `i`.
struct Fit {
  double tokens = std::numeric_limits<double>::infinity();
  std::size_t before = 0;  // the bucket before the last
};

}  // namespace

std::int64_t TokenLengths::count() const {
  std::int64_t sum = 0;
  for (const auto& [length, n] : samples) sum += n;
  return sum;
}

std::int64_t TokenLengths::tokens() const {
  std::int64_t sum = 0;
  for (const auto& [length, n] : samples) sum += length * n;
  return sum;
}

std::vector<Bucket> bucketed(const TokenLengths& data, const std::vector<std::int64_t>& lengths) {
  std::vector<Bucket> out;
  auto next = data.samples.begin();
  for (const std::int64_t length : lengths) {
    Bucket bucket{.length = length};
    const bool last = length == lengths.back();
    for (; next != data.samples.end() && (last || next->first <= length); ++next) {
      bucket.samples += next->second;
      bucket.tokens += next->second * std::min(next->first, length);
      if (next->first > length) bucket.cut += next->second;
    }
    if (bucket.samples > 0) out.push_back(bucket);
  }
  return out;
}

std::vector<std::int64_t> fitted_buckets(const TokenLengths& data, std::int64_t longest, std::int64_t most_buckets) {
  const auto up = [](std::int64_t n, std::int64_t grain) { return (n + grain - 1) / grain * grain; };
  const std::int64_t end = std::min(longest, up(std::max<std::int64_t>(data.longest(), 1), kGrain));
  std::vector<std::int64_t> lengths;
  for (std::int64_t at = up(end, kGrain * kCandidates) / kCandidates; at < end;
       at += up(end, kGrain * kCandidates) / kCandidates)
    lengths.push_back(at);
  lengths.push_back(end);
  const std::vector<std::int64_t> within = samples_within(data, lengths);
  std::vector<std::vector<Fit>> plans(1, std::vector<Fit>(lengths.size()));
  for (std::size_t i = 0; i < lengths.size(); ++i)
    plans[0][i].tokens = static_cast<double>(within[i]) * static_cast<double>(lengths[i]);
  while (static_cast<std::int64_t>(plans.size()) < most_buckets) {
    std::vector<Fit> more(lengths.size());
    for (std::size_t i = 1; i < lengths.size(); ++i)
      for (std::size_t j = 0; j < i; ++j) {
        const double tokens =
            plans.back()[j].tokens + static_cast<double>(within[i] - within[j]) * static_cast<double>(lengths[i]);
        if (tokens < more[i].tokens) more[i] = {tokens, j};
      }
    if (more.back().tokens > (1 - kWorthAProgram) * plans.back().back().tokens) break;
    plans.push_back(std::move(more));
  }
  std::vector<std::int64_t> out;
  for (std::size_t k = plans.size(), at = lengths.size() - 1; k-- > 0; at = plans[k][at].before)
    out.push_back(lengths[at]);
  std::ranges::reverse(out);
  return out;
}

std::vector<std::int64_t> listed_buckets(std::string_view text) {
  std::vector<std::int64_t> out;
  while (true) {
    const std::size_t end = std::min(text.find(','), text.size());
    const std::string_view part = text.substr(0, end);
    std::int64_t length = 0;
    const auto [at, error] = std::from_chars(part.data(), part.data() + part.size(), length);
    if (error != std::errc{} || at != part.data() + part.size() || length < 1)
      refuse_buckets(fmt::format("'{}' is not a length", part),
                     "give lengths in tokens with commas, as 128,256,512, or auto");
    if (!out.empty() && length <= out.back())
      refuse_buckets(fmt::format("{} comes after {}", length, out.back()), "give each length once, shortest first");
    out.push_back(length);
    if (end == text.size()) return out;
    text.remove_prefix(end + 1);
  }
}

std::vector<std::int64_t> buckets_of(std::string_view text, const TokenLengths& data, std::int64_t longest,
                                     std::string_view limit) {
  if (text.empty()) return {longest};
  if (text == "auto") return fitted_buckets(data, longest);
  std::vector<std::int64_t> out = listed_buckets(text);
  if (out.back() > longest)
    refuse_buckets(fmt::format("{} exceed {}, {}", base::counted(out.back(), "token"), limit, longest),
                   fmt::format("use lengths of at most {}", longest));
  return out;
}

}  // namespace workloads
