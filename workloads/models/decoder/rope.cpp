// Frequencies of the rotary embedding, plain and scaled.
#include <cmath>
#include <numbers>

#include "workloads/models/decoder/decoder_config.h"

namespace workloads {
namespace {

double scaled(double frequency, const RopeScaling& rope, std::size_t pair, bool longer) {
  if (rope.type == RopeScaling::Type::kLong)
    return frequency / (longer ? rope.long_factor : rope.short_factor).at(pair);
  if (rope.type != RopeScaling::Type::kLlama3)
    return rope.type == RopeScaling::Type::kLinear ? frequency / rope.factor : frequency;
  const double wavelength = 2 * std::numbers::pi / frequency;
  const auto context = static_cast<double>(rope.original_max_position_embeddings);
  if (wavelength < context / rope.high_freq_factor) return frequency;
  if (wavelength > context / rope.low_freq_factor) return frequency / rope.factor;
  const double kept = (context / wavelength - rope.low_freq_factor) / (rope.high_freq_factor - rope.low_freq_factor);
  return (1 - kept) * frequency / rope.factor + kept * frequency;
}

}  // namespace

std::vector<double> rope_frequencies(const LlamaConfig& c, bool longer) {
  std::vector<double> frequencies;
  const auto rotated = static_cast<std::int64_t>(c.rotary_share * static_cast<double>(c.head_dim)) / 2 * 2;
  for (std::int64_t j = 0; j < rotated / 2; ++j) {
    const double exponent = 2 * static_cast<double>(j) / static_cast<double>(rotated);
    const double frequency = std::pow(c.rope_theta, -exponent);
    frequencies.push_back(c.rope_scaling ? scaled(frequency, *c.rope_scaling, static_cast<std::size_t>(j), longer)
                                         : frequency);
  }
  return frequencies;
}

double rope_magnitude(const LlamaConfig& c) {
  const auto& rope = c.rope_scaling;
  if (!rope || rope->type != RopeScaling::Type::kLong) return 1;
  if (rope->attention_factor > 0) return rope->attention_factor;
  if (rope->factor <= 1) return 1;
  return std::sqrt(1 + std::log(rope->factor) / std::log(static_cast<double>(rope->original_max_position_embeddings)));
}

}  // namespace workloads
