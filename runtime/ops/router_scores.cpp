// The numbers by which a router chooses: logits, or scores with a bias and within groups. Source: DeepSeek-AI,
// arXiv:2405.04434, section 2.1.3; arXiv:2412.19437, section 2.1.2.
#include <cmath>
#include <limits>
#include <numeric>

#include "runtime/ops/slots.h"

namespace runtime {
namespace {

/// The score of each group: of its best expert, or its best two.
std::vector<double> group_scores(const RouteAttrs& a, const std::vector<double>& choice) {
  const std::size_t groups = static_cast<std::size_t>(a.groups), size = choice.size() / groups;
  std::vector<double> out;
  for (std::size_t g = 0; g < groups; ++g) {
    std::vector<double> of_group(choice.begin() + static_cast<std::ptrdiff_t>(g * size),
                                 choice.begin() + static_cast<std::ptrdiff_t>((g + 1) * size));
    std::ranges::sort(of_group, std::greater{});
    out.push_back(of_group[0] + (a.sigmoid && size > 1 ? of_group[1] : 0));
  }
  return out;
}

void keep_best_groups(const RouteAttrs& a, std::vector<double>& choice) {
  const std::vector<double> scores = group_scores(a, choice);
  std::vector<std::size_t> order(scores.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::ranges::stable_sort(order, std::greater{}, [&](std::size_t g) { return scores[g]; });
  const std::size_t size = choice.size() / scores.size();
  for (std::size_t i = static_cast<std::size_t>(a.top_groups); i < order.size(); ++i)
    std::fill_n(choice.begin() + static_cast<std::ptrdiff_t>(order[i] * size), size, 0.0);
}

}  // namespace

RouterRow router_row(const RouteAttrs& a, const Tensor& logits, std::int64_t row, const Tensor* bias) {
  RouterRow out;
  double most = logits.at(row, 0), sum = 0;
  for (std::int64_t e = 1; e < logits.cols; ++e) most = std::max<double>(most, logits.at(row, e));
  for (std::int64_t e = 0; e < logits.cols; ++e) {
    const double x = logits.at(row, e);
    out.scores.push_back(a.sigmoid ? 1 / (1 + std::exp(-x)) : std::exp(x - most));
    out.choice.push_back(x);
    sum += out.scores.back();
  }
  if (!a.sigmoid)
    for (double& score : out.scores) score /= sum;
  if (!chooses_by_scores(a, bias != nullptr)) return out;
  out.choice = out.scores;
  for (std::int64_t e = 0; bias && e < logits.cols; ++e) out.choice[static_cast<std::size_t>(e)] += bias->at(0, e);
  if (a.groups > 1) keep_best_groups(a, out.choice);
  return out;
}

namespace {

constexpr std::int64_t kAtOnce = 8;  // numbers that max8 finds
constexpr float kTaken = std::numeric_limits<float>::lowest(), kNoNumber = std::numeric_limits<float>::max();

bool are_found_at_once(const Tile& numbers) { return numbers.cols() >= kAtOnce; }

/// [P, 8]: the largest numbers of each row, falling.
Tile eight_largest(Emitter& e, const Tile& numbers) {
  const Tile out = e.sbuf(Dtype::kFp32, numbers.partitions, kAtOnce);
  e.emit({.op = Opcode::kMax8, .engine = isa::Engine::kVector, .dst = out, .a = numbers});
  return out;
}

/// [P, groups]: the scores that router_row() has of them.
Tile scores_of_groups(Emitter& e, const RouteAttrs& a, const Tile& choice) {
  const std::int64_t parts = choice.partitions, size = choice.cols() / a.groups;
  const bool of_two = a.sigmoid && size > 1;
  const Tile scores = e.sbuf(Dtype::kFp32, parts, a.groups), left = e.sbuf(Dtype::kFp32, parts, size);
  const Tile which = e.sbuf(Dtype::kFp32, parts, 1), second = e.sbuf(Dtype::kFp32, parts, 1);
  for (std::int64_t g = 0; g < a.groups; ++g) {
    const Tile score = columns(scores, g, 1), group = columns(choice, g * size, size);
    if (!of_two) {
      e.reduce(score, Alu::kMax, group);
    } else if (are_found_at_once(group)) {
      const Tile best = eight_largest(e, group);
      e.tensor_tensor(score, columns(best, 0, 1), Alu::kAdd, columns(best, 1, 1));
    } else {
      e.copy(left, group);
      e.reduce(score, Alu::kMax, left);
      take_largest(e, left, partitions(e.ramp(size), parts), which);
      e.reduce(second, Alu::kMax, left);
      e.tensor_tensor(score, score, Alu::kAdd, second);
    }
  }
  return scores;
}

/// Multiplies the groups of `choice` that are not among the best by 0.
void keep_best_groups(Emitter& e, const RouteAttrs& a, const Tile& choice) {
  const std::int64_t size = choice.cols() / a.groups;
  Tile kept = largest_of(e, scores_of_groups(e, a, choice), a.top_groups);
  kept.rank = 2;
  kept.free[0] = {.step = 1, .size = static_cast<std::uint32_t>(a.groups)};
  kept.free[1] = {.step = 0, .size = static_cast<std::uint32_t>(size)};
  e.tensor_tensor(fold(choice, a.groups, size), fold(choice, a.groups, size), Alu::kMul, kept);
}

}  // namespace

Tile largest_of(Emitter& e, const Tile& numbers, std::int64_t count) {
  const std::int64_t parts = numbers.partitions, cols = numbers.cols();
  const Tile chosen = e.sbuf(Dtype::kFp32, parts, cols), left = e.sbuf(Dtype::kFp32, parts, cols);
  if (!are_found_at_once(numbers)) {
    const Tile which = e.sbuf(Dtype::kFp32, parts, 1);
    e.copy(left, numbers);
    for (std::int64_t j = 0; j < count; ++j) {
      const Tile hot = take_largest(e, left, partitions(e.ramp(cols), parts), which);
      j == 0 ? e.copy(chosen, hot) : e.tensor_tensor(chosen, chosen, Alu::kAdd, hot);
    }
    return chosen;
  }
  for (std::int64_t j = 0; j < count; j += kAtOnce) {
    const Tile from = j == 0 ? numbers : left, best = eight_largest(e, from);
    if (count - j < kAtOnce) e.fill(columns(best, count - j, kAtOnce - (count - j)), kNoNumber);
    e.emit({.op = Opcode::kMatchReplace8,
            .engine = isa::Engine::kVector,
            .imm0 = kTaken,
            .dst = left,
            .a = from,
            .b = best});
  }
  e.tensor_tensor(chosen, left, Alu::kNe, numbers);
  return chosen;
}

Tile choice_of(Emitter& e, const RouteAttrs& a, const Tile& scores, const Tile* bias) {
  const Tile choice = e.sbuf(Dtype::kFp32, scores.partitions, scores.cols());
  if (bias)
    e.tensor_tensor(choice, scores, Alu::kAdd, *bias);
  else
    e.copy(choice, scores);
  if (a.groups > 1) keep_best_groups(e, a, choice);
  return choice;
}

}  // namespace runtime
