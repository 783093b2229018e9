// Tokens and their positions.
#include <fmt/format.h>

#include "runtime/ops/ops.h"
#include "workloads/models/layers/layers.h"

namespace workloads {

using runtime::Kind;
using runtime::kNoValue;
using runtime::ValueId;

ValueId Layers::tokens(const EmbeddingArch& arch, const char* place, const char* ids, const char* mine,
                       std::int64_t rows) {
  const isa::Dtype type = numerics().activation;
  places_.enter(place);
  std::vector<ValueId> in{w(arch.name + ".weight"), input(ids, rows, 1, isa::Dtype::kInt32)};
  if (!arch.trains_padding && program_.training) in.push_back(input(fmt::format("{}_trained", ids), rows, 1, type));
  ValueId x = graph_.add1(runtime::kEmbedding, "word", in, runtime::ResultAttrs{.dtype = type});
  x = times("word.scale", x, arch.scale);
  if (program_.split()) {
    x = graph_.add1(runtime::kMul, "word.mine", {x, input(mine, rows, 1, type)});
    places_.enter(fmt::format("{}.sum", place));
    x = summed(x);
  }
  if (arch.projection.empty()) return x;
  if (program_.split()) places_.enter(fmt::format("{}.projection", place));
  return linear("word.projection", x, arch.projection);
}

ValueId Layers::normed_tokens(const EmbeddingArch& arch, const NormArch& norm_arch, ValueId x) {
  if (arch.norm.empty()) return x;
  if (program_.split()) places_.enter("embeddings.norm");
  return norm("word.norm", x, norm_arch, arch.norm);
}

ValueId Layers::with_positions(const EmbeddingArch& arch, ValueId x, bool by_rank) {
  if (arch.positions.empty()) return x;
  const std::int64_t rows = graph_.value(x).rows;
  const isa::Dtype type = numerics().activation;
  const ValueId table = w(arch.positions + ".weight");
  if (program_.split()) places_.enter("embeddings.position");
  const bool own = by_rank || (program_.mode == Mode::kToken && arch.first_position > 0);
  if (own && learned_at_ == kNoValue) learned_at_ = graph_.tensor("places", rows, 1, isa::Dtype::kInt32, Kind::kInput);
  const ValueId at = own ? learned_at_ : at_;
  const ValueId positions =
      own || program_.mode == Mode::kToken
          ? graph_.add1(runtime::kEmbedding, "position", {table, at}, runtime::ResultAttrs{.dtype = type})
          : graph_.add1(runtime::kPositions, "position", {table},
                        runtime::PositionsAttrs{.batch = rows / program_.length,
                                                .seq = program_.length,
                                                .first = arch.first_position,
                                                .dtype = type});
  return dropout("dropout", add("sum", x, positions), arch.dropout);
}

void Layers::declare_rotary(const RotaryArch& arch, std::int64_t rows, Kind kind) {
  if (arch.frequencies.empty()) return;
  const auto table = [&](const char* name) { return graph_.tensor(name, rows, arch.pairs(), isa::Dtype::kFp32, kind); };
  angles_.cos = table("rope.cos"), angles_.sin = table("rope.sin");
  if (!arch.windowed.empty()) windowed_.cos = table("rope.window.cos"), windowed_.sin = table("rope.window.sin");
  if (arch.grows(rows)) grown_.cos = table("rope.query.cos"), grown_.sin = table("rope.query.sin");
}

ValueId Layers::rotated(const std::string& label, ValueId x, const BlockArch& arch, std::int64_t layer, bool queries) {
  if (!arch.rotary.turns(layer)) return x;
  const bool windowed = !arch.rotary.windowed.empty() && arch.attention.window.of(layer) > 0;
  const bool grown = queries && grown_.cos != kNoValue;
  const Angles& angles = grown ? grown_ : windowed ? windowed_ : angles_;
  const auto at_positions = [&](const char* part, ValueId table) {
    if (program_.mode == Mode::kToken)
      return graph_.add1(runtime::kEmbedding, label + part, {table, at_},
                         runtime::ResultAttrs{.dtype = isa::Dtype::kFp32});
    return graph_.add1(
        runtime::kPositions, label + part, {table},
        runtime::PositionsAttrs{.batch = program_.batch, .seq = program_.length, .dtype = isa::Dtype::kFp32});
  };
  const ValueId cos = at_positions(".cos", angles.cos), sin = at_positions(".sin", angles.sin);
  const std::int64_t turned = 2 * arch.rotary.pairs();
  const bool all = turned == arch.attention.head || turned == graph_.value(x).cols;
  return graph_.add1(runtime::kRope, label, {x, cos, sin}, runtime::RopeAttrs{.head = all ? 0 : arch.attention.head});
}

}  // namespace workloads
