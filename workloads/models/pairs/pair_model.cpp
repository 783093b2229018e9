// Plans, FLOPs and tables of models that read one text and write another.
#include <cmath>

#include "workloads/checkpoints/shards.h"
#include "workloads/models/pairs/pair_arch.h"

namespace workloads {
namespace {

HostTable distances(const PairArch& pair, std::string name, bool both_ways, std::int64_t columns, std::int64_t from) {
  return {std::move(name), by_bucket(pair.buckets, both_ways, columns, from)};
}

/// Sines of a token's position, then cosines. Source: transformers, modeling_marian.py,
/// MarianSinusoidalPositionalEmbedding, and modeling_m2m_100.py, M2M100SinusoidalPositionalEmbedding.
std::vector<float> waves(const WaveArch& arch, std::int64_t token, std::int64_t count) {
  std::vector<float> out;
  const std::int64_t half = arch.size / 2, odd = arch.size % 2;
  const double waves = arch.closed ? static_cast<double>(half - 1) : static_cast<double>(arch.size) / 2;
  for (std::int64_t place = arch.first + token; place < arch.first + token + count; ++place) {
    const auto angle = [&](std::int64_t wave) {
      return static_cast<double>(place) / std::pow(10000, static_cast<double>(wave) / waves);
    };
    const std::int64_t sines = arch.closed ? half : half + odd;
    for (std::int64_t i = 0; i < sines; ++i) out.push_back(static_cast<float>(std::sin(angle(i))));
    for (std::int64_t i = 0; i < half; ++i) out.push_back(static_cast<float>(std::cos(angle(i))));
    if (arch.closed && odd == 1) out.push_back(0);
  }
  return out;
}

}  // namespace

std::int64_t target_length(const StepKind& kind) { return kind.target_length > 0 ? kind.target_length : kind.length; }

std::vector<HostTable> pair_tables(const PairArch& pair, const StepKind& kind, std::optional<std::int64_t> position) {
  if (pair.waves.size > 0) {
    if (position) return {{"place", waves(pair.waves, *position, 1)}};
    return {{"positions.encoder", waves(pair.waves, 0, kind.length)},
            {"positions.decoder", waves(pair.waves, 0, target_length(kind))}};
  }
  if (pair.encoder.relative.empty()) return {};
  if (position) return {distances(pair, "distances", false, kind.length, -*position)};
  const std::int64_t read = kind.length, written = target_length(kind);
  return {distances(pair, "distances.encoder", true, 2 * read - 1, 1 - read),
          distances(pair, "distances.decoder", false, 2 * written - 1, 1 - written)};
}

namespace {

/// FLOPs of the adapters: those beside keys and values of the source see its tokens, too.
double adapters_of_sequence(const Model& model, const PairArch& pair, double read, double written) {
  std::vector<WeightSpec> of_source, of_target;
  for (WeightSpec& w : model.weights()) {
    const auto is = [&](const std::string& name) { return w.name.starts_with(pair.decoder.prefix(w.layer) + name); };
    const AttentionNames& cross = pair.decoder.cross.names;
    const bool source = w.layer < pair.decoder.first || is(cross.key + ".") || is(cross.value + ".");
    (source ? of_source : of_target).push_back(std::move(w));
  }
  return read * adapter_flops(of_source) + written * adapter_flops(of_target);
}

}  // namespace

std::optional<Problem> pair_problem(const PairArch& pair, const Sizes& sizes, const Plan& plan) {
  const bool halves = plan.pipeline == 2 && pair.encoder.layers == pair.decoder.layers;
  if (plan.chunks > 1 || (plan.pipeline > 1 && !halves))
    return Problem{
        plan.chunks > 1 ? "`virtual_pipeline_size`" : "`pipeline_parallel_size`",
        "an encoder-decoder can only be cut in two stages, between an encoder and a decoder with equally many layers",
        "use `pipeline_parallel_size` 1, or 2 where both have equally many layers, with one chunk each"};
  if ((pair.waves.size > 0 || !pair.encoder.positions.empty()) && plan.tensor > 1 && plan.sequence)
    return Problem{"`disable_sequence_parallel`", "encoder-decoders with position tables cannot be split by tokens",
                   "give `disable_sequence_parallel`"};
  return problem(shard_plan(plan), sizes);
}

double pair_flops(const Model& model, const PairArch& pair, const Step& step) {
  const BlockArch& block = model.decoder()->block;
  const auto h = static_cast<double>(model.sizes().hidden), inner = static_cast<double>(block.attention.query_size());
  const auto read = static_cast<double>(step.kind.length), written = static_cast<double>(target_length(step.kind));
  const double mlp = (block.mlp.gated ? 3 : 2) * h * static_cast<double>(block.mlp.size);
  const auto encoders = static_cast<double>(pair.encoder.layers), decoders = static_cast<double>(pair.decoder.layers);
  const double cross = 2 * h * inner * (2 * written + 2 * read);
  const double linear = encoders * read * 2 * (4 * h * inner + mlp) +
                        decoders * (written * 2 * (4 * h * inner + mlp) + cross) +
                        2 * h * static_cast<double>(model.sizes().vocabulary) * written;
  const double others =
      encoders * 4 * inner * read * read + decoders * 4 * inner * (written * written + written * read);
  const double frames = static_cast<double>(pair.stem.sound.frames()) * 3 * 2 * h *
                        static_cast<double>(pair.stem.sound.bands),
               halving = pair.stem ? read * 3 * 2 * h * h : 0;
  const ForwardFlops sequence{.linear = linear + halving,
                              .others = others + adapters_of_sequence(model, pair, read, written)};
  // The gradient of frames is not needed.
  const double first = (step.kind.training && !model.lora() ? 2 : 1) * frames;
  return (first + step_flops(sequence, step.kind.training, model.lora())) *
         static_cast<double>(step.plan.sequences_per_step());
}

MlpNames with_prefix(const std::string& prefix, const MlpNames& names) {
  return {.gate = prefix + names.gate, .up = prefix + names.up, .down = prefix + names.down};
}

}  // namespace workloads
