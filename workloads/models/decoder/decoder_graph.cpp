#include "workloads/models/decoder/decoder_graph.h"

#include <fmt/format.h>

#include "workloads/models/decoder/split_graph.h"
#include "workloads/models/layers/block.h"
#include "workloads/step/step_graph.h"

namespace workloads {
namespace {

using runtime::ValueId;

class Decoder final : public SplitGraph {
 public:
  Decoder(const ModelPtr& model, const Step& step)
      : SplitGraph{model, step, step.plan.micro_batch * step.kind.length}, block_{net_, arch_.block, arch_.layers} {}

 private:
  void declare_tables() override { net_.declare_rotary(arch_.block.rotary, step_.kind.length, runtime::Kind::kInput); }

  std::vector<ValueId> forward(std::int64_t number) override {
    const Chunk chunk = chunk_of(step_, number, arch_.layers);
    Residual x{.sum = chunk.first ? embed() : receive(number, rows_, chunk.from_group)};
    for (layer_ = chunk.begin; layer_ < chunk.end; ++layer_) block_.layer(x, layer_, arch_.layer_prefix(layer_));
    std::vector<ValueId> ends;
    if (const ValueId loss = router_loss(number); loss != runtime::kNoValue) ends.push_back(loss);
    ends.push_back(chunk.last ? head(x.sum) : send(number, x.sum, chunk.to_group));
    return ends;
  }

  ValueId embed() {
    layer_ = -1;
    net_.restart_stream();
    const ValueId x = net_.tokens(arch_.embedding, "embeddings", "input_ids", "vocabulary", rows_);
    return net_.with_positions(arch_.embedding, x, places_by_rank(step_.plan));
  }

  ValueId router_loss(std::int64_t chunk) {
    const std::int64_t place = micro_ * step_.plan.chunks + chunk;
    const ValueId loss = block_.router_loss({.enter = [&](const char* name) { enter(name, place); },
                                             .parts = static_cast<double>(step_.plan.micro_batches) * step_.plan.data});
    if (loss != runtime::kNoValue) graph_.output(loss, host_name(fmt::format("router_loss.{}", chunk)));
    return loss;
  }

  bool of_heads(const WeightSpec& spec) const override {
    const AttentionNames& names = arch_.block.names.attention;
    return !names.query_norm.empty() && (spec.name.ends_with(fmt::format("{}.weight", names.query_norm)) ||
                                         spec.name.ends_with(fmt::format("{}.weight", names.key_norm)));
  }

  Block block_;
};

}  // namespace

StepGraph decoder_step(const ModelPtr& model, const Step& step) {
  require_step(decoder_arch(model), step);
  return Decoder{model, step}.run();
}

}  // namespace workloads
