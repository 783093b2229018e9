#include "workloads/models/decoder/decoder_graph.h"

#include <fmt/format.h>

#include "runtime/ops/ops.h"
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
  void declare_tables() override {
    net_.declare_rotary(arch_.block.rotary, step_.kind.length, runtime::Kind::kInput);
    net_.declare_slopes(arch_.block.attention, runtime::Kind::kInput);
  }

  std::vector<ValueId> forward(std::int64_t number) override {
    const Chunk chunk = chunk_of(step_, number, arch_.layers);
    Residual x{.sum = chunk.first ? embed() : receive(number, rows_, chunk.from_group)};
    RouterSums sums = is_routed_before(chunk.begin) ? receive_sums(number, chunk.from_group) : RouterSums{};
    for (layer_ = chunk.begin; layer_ < chunk.end; ++layer_) block_.layer(x, layer_, arch_.layer_prefix(layer_));
    if (Mixture* routers = block_.routers()) sums = routers->sums(place_of_loss(number), sums);
    return chunk.last ? last_ends(number, x.sum, sums) : sent_ends(number, x.sum, sums, chunk.to_group);
  }

  /// Whether the routers of layers in front of this one have a loss, whose sums stages hand on.
  bool is_routed_before(std::int64_t layer) { return block_.routers() && arch_.block.mixture->count(layer) > 0; }

  /// The losses.
  std::vector<ValueId> last_ends(std::int64_t number, ValueId x, const RouterSums& sums) {
    std::vector<ValueId> ends;
    if (Mixture* routers = block_.routers()) {
      ends.push_back(routers->loss(place_of_loss(number), sums));
      graph_.output(ends.back(), host_name("router_loss"));
    }
    ends.push_back(head(x));
    return ends;
  }

  /// The messages that stand for the loss. The routers' load has no gradient.
  std::vector<ValueId> sent_ends(std::int64_t number, ValueId x, const RouterSums& sums, std::uint8_t to) {
    std::vector<ValueId> ends{send(number, x, to)};
    if (sums.load != runtime::kNoValue) {
      send_sum("load", number, sums.load, to);
      ends.push_back(send_sum("mass", number, sums.mass, to));
    }
    return ends;
  }

  RouterSums receive_sums(std::int64_t number, std::uint8_t from) {
    const ValueId load = receive_sum("load", number, from);
    return {.load = load, .mass = receive_sum("mass", number, from)};
  }

  ValueId receive_sum(const char* what, std::int64_t number, std::uint8_t from) {
    enter(fmt::format("stage.receive.{}", what), micro_ * step_.plan.chunks + number);
    return graph_.add1(
        runtime::kStageReceive, fmt::format("receive.{}", what), {},
        runtime::ReceiveAttrs{
            .rows = 1, .cols = arch_.block.mixture->experts, .group = from, .peer = 0, .dtype = isa::Dtype::kFp32});
  }

  ValueId send_sum(const char* what, std::int64_t number, ValueId sum, std::uint8_t to) {
    enter(fmt::format("stage.send.{}", what), micro_ * step_.plan.chunks + number);
    return graph_.add1(runtime::kStageSend, fmt::format("send.{}", what), {sum},
                       runtime::SendAttrs{.group = to, .peer = 1});
  }

  ValueId embed() {
    layer_ = -1;
    net_.restart_stream();
    const ValueId x = net_.tokens(arch_.embedding, "embeddings", "input_ids", "vocabulary", rows_);
    return net_.with_positions(arch_.embedding, net_.normed_tokens(arch_.embedding, arch_.block.norm, x),
                               places_by_rank(step_.plan));
  }

  MixtureLoss place_of_loss(std::int64_t chunk) {
    const std::int64_t place = micro_ * step_.plan.chunks + chunk;
    return {.enter = [this, place](const char* name) { enter(name, place); },
            .parts = static_cast<double>(step_.plan.micro_batches) * step_.plan.data};
  }

  bool of_heads(const WeightSpec& spec) const override {
    const AttentionNames& n = arch_.block.names.attention;
    const std::string& curve = arch_.block.names.mlp.curve;  // of a part of the columns, as the others of heads
    if (!curve.empty() && spec.name.find("." + curve + ".") != std::string::npos) return true;
    for (const std::string* part :
         {&n.query_norm, &n.key_norm, &n.query_low, &n.query_low_norm, &n.low, &n.low_norm, &n.turned})
      for (const char* kind : {"weight", "bias"})
        if (!part->empty() && spec.name.ends_with(fmt::format(".{}.{}", *part, kind))) return true;
    return false;
  }

  Block block_;
};

}  // namespace

StepGraph decoder_step(const ModelPtr& model, const Step& step) {
  require_step(decoder_arch(model), step);
  return Decoder{model, step}.run();
}

}  // namespace workloads
