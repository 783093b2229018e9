// Frequencies of the rotary embedding, plain and scaled.
#include <algorithm>
#include <cmath>
#include <numbers>

#include "workloads/models/decoder/decoder_config.h"

namespace workloads {
namespace {

/// The number, not whole, of the pair that turns `times` in the original positions.
double pair_that_turns(double times, const RopeScaling& rope, double theta, double rotated) {
  const double turn = static_cast<double>(rope.original_max_position_embeddings) / (times * 2 * std::numbers::pi);
  return rotated * std::log(turn) / (2 * std::log(theta));
}

double by_yarn(double frequency, const LlamaConfig& c, double pair, double rotated) {
  const RopeScaling& rope = *c.rope_scaling;
  double low = pair_that_turns(rope.beta_fast, rope, c.rope_theta, rotated);
  double high = pair_that_turns(rope.beta_slow, rope, c.rope_theta, rotated);
  if (rope.truncate) low = std::floor(low), high = std::ceil(high);
  low = std::max(low, 0.0), high = std::min(high, rotated - 1);
  if (low == high) high += 0.001;
  const double slowed = std::clamp((pair - low) / (high - low), 0.0, 1.0);
  return slowed * frequency / rope.factor + (1 - slowed) * frequency;
}

}  // namespace

double yarn_magnitude(double factor, double scale) { return factor <= 1 ? 1 : 0.1 * scale * std::log(factor) + 1; }

namespace {

/// Source: transformers, modeling_hunyuan_v1_dense.py.
double base(const LlamaConfig& c, double rotated) {
  if (!c.rope_scaling || c.rope_scaling->alpha <= 0 || rotated <= 2) return c.rope_theta;
  return c.rope_theta * std::pow(c.rope_scaling->alpha, rotated / (rotated - 2));
}

double scaled(double frequency, const RopeScaling& rope, std::size_t pair, bool longer) {
  if (rope.type == RopeScaling::Type::kLong)
    return frequency / (longer ? rope.long_factor : rope.short_factor).at(pair);
  if (rope.type != RopeScaling::Type::kLlama3)
    return rope.type == RopeScaling::Type::kLinear ? frequency / rope.factor : frequency;
  const double wavelength = 2 * std::numbers::pi / frequency;
  const auto context = static_cast<double>(rope.original_max_position_embeddings);
  if (wavelength <= context / rope.high_freq_factor) return frequency;
  if (wavelength > context / rope.low_freq_factor) return frequency / rope.factor;
  const double kept = (context / wavelength - rope.low_freq_factor) / (rope.high_freq_factor - rope.low_freq_factor);
  return (1 - kept) * frequency / rope.factor + kept * frequency;
}

}  // namespace

std::int64_t turned_elements(const LlamaConfig& c) {
  if (c.qk_rope_head_dim > 0) return c.qk_rope_head_dim / 2 * 2;
  return static_cast<std::int64_t>(c.rotary_share * static_cast<double>(c.head_dim)) / 2 * 2;
}

std::vector<double> rope_frequencies(const LlamaConfig& c, bool longer) {
  std::vector<double> frequencies;
  const std::int64_t rotated = turned_elements(c);
  const double theta = base(c, static_cast<double>(rotated));
  for (std::int64_t j = 0; j < rotated / 2; ++j) {
    const double exponent = 2 * static_cast<double>(j) / static_cast<double>(rotated);
    const double frequency = std::pow(theta, -exponent);
    if (!c.rope_scaling)
      frequencies.push_back(frequency);
    else if (c.rope_scaling->type == RopeScaling::Type::kYarn)
      frequencies.push_back(by_yarn(frequency, c, static_cast<double>(j), static_cast<double>(rotated)));
    else
      frequencies.push_back(scaled(frequency, *c.rope_scaling, static_cast<std::size_t>(j), longer));
  }
  return frequencies;
}

double rope_magnitude(const LlamaConfig& c) {
  const auto& rope = c.rope_scaling;
  const bool yarn = rope && rope->type == RopeScaling::Type::kYarn;
  if (!rope || (rope->type != RopeScaling::Type::kLong && !yarn)) return 1;
  if (rope->attention_factor > 0) return rope->attention_factor;
  if (yarn && rope->mscale > 0 && rope->mscale_all_dim > 0)
    return yarn_magnitude(rope->factor, rope->mscale) / yarn_magnitude(rope->factor, rope->mscale_all_dim);
  if (yarn) return yarn_magnitude(rope->factor, 1);
  if (rope->factor <= 1) return 1;
  return std::sqrt(1 + std::log(rope->factor) / std::log(static_cast<double>(rope->original_max_position_embeddings)));
}

}  // namespace workloads
