#include "workloads/models/decoder/generation_graph.h"

#include <fmt/format.h>

#include <algorithm>

#include "runtime/ops/ops.h"
#include "workloads/models/decoder/decoder_arch.h"
#include "workloads/models/decoder/decoder_weights.h"
#include "workloads/models/layers/block.h"
#include "workloads/step/optimizer_step.h"

namespace workloads {
namespace {

using runtime::Graph;
using runtime::Kind;
using runtime::ValueId;

LayerProgram program_of(const GenerationSpec& spec, const DecoderArch& arch, bool prompt) {
  LayerProgram program{.mode = prompt ? Mode::kPrompt : Mode::kToken,
                       .batch = spec.batch,
                       .length = prompt ? spec.prompt : 1,
                       .ranks = spec.tensor_parallel,
                       .sequence = prompt && spec.sequence && spec.batch * spec.prompt % spec.tensor_parallel == 0 &&
                                   !arch.block.mixture && arch.embedding.positions.empty(),
                       .cached = spec.rows_read(),
                       .grown = spec.length,
                       .kernel_from = spec.kernel_from,
                       .prompt_kernel = spec.prompt_kernel,
                       .scores_together = spec.scores_together,
                       .beside = spec.beside};
  if (prompt) program.expert_block = spec.expert_block;
  if (const auto& m = arch.block.mixture)
    program.experts_read = spec.experts_read(m->experts, m->top_k, program.batch * program.length);
  return program;
}

class Generation : Places {
 public:
  Generation(const ModelPtr& model, const GenerationSpec& spec, bool prompt)
      : arch_{decoder_arch(model)},
        spec_{spec},
        prompt_{prompt},
        graph_{spec.numerics},
        net_{graph_, generation_tensors(graph_, model, spec), program_of(spec, arch_, prompt), *this},
        block_{net_, arch_.block, arch_.layers} {
    graph_.set_replica_groups(replica_groups(Plan{.tensor = spec.tensor_parallel}));
  }

  Graph run() {
    declare();
    const std::int64_t rows = spec_.batch * net_.program().length;
    ValueId x = net_.tokens(arch_.embedding, "embeddings", "input_ids", "vocabulary", rows);
    x = net_.normed_tokens(arch_.embedding, arch_.block.norm, x);
    Residual sum{.sum = net_.with_positions(arch_.embedding, x, false)};
    for (layer_ = 0; layer_ < arch_.layers; ++layer_)
      block_.layer(sum, layer_, arch_.layer_prefix(layer_), {.caches = caches_[static_cast<std::size_t>(layer_)]});
    head(sum);
    return std::move(graph_);
  }

 private:
  void declare() {
    const std::int64_t groups = std::max<std::int64_t>(1, arch_.block.attention.kv_heads / spec_.tensor_parallel);
    const AttentionArch& attention = arch_.block.attention;
    const auto cache = [&](const char* part, std::int64_t layer, std::int64_t size) {
      const std::int64_t rows = spec_.batch * spec_.cache_rows(attention.window.of(layer));
      return graph_.tensor(fmt::format("cache.{}.{}", part, layer), rows, groups * size, spec_.numerics.activation,
                           Kind::kCache);
    };
    for (std::int64_t l = 0; l < arch_.layers; ++l) {
      const ValueId keys = cache("keys", l, attention.head), values = cache("values", l, attention.value());
      caches_.push_back({keys, values});
    }
    net_.declare_rotary(arch_.block.rotary, spec_.length, Kind::kWeight);  // fixed like weights
    net_.declare_slopes(arch_.block.attention, Kind::kWeight);
    places_ = graph_.tensor(prompt_ ? "last" : "positions", spec_.batch, 1, isa::Dtype::kInt32, Kind::kInput);
    net_.set_places(places_);
    if (!prompt_ && spec_.has_ring(arch_.block.attention.window.tokens))
      net_.set_slots(graph_.tensor("slots", spec_.batch, 1, isa::Dtype::kInt32, Kind::kInput));
  }

  void enter(const std::string& name) override {
    graph_.enter({.name = name, .instance = 0, .phase = isa::Phase::kForward});
  }
  /// With one rank a layer is one block; ranks meet between its halves.
  void enter_part(const std::string& part) override {
    const auto layer = static_cast<std::int32_t>(layer_);
    graph_.enter({.name = net_.program().split() ? "layer." + part : "layer",
                  .instance = layer,
                  .phase = isa::Phase::kForward,
                  .layer = layer});
  }

  /// Only the last token of a prompt predicts the next one.
  void head(Residual& x) {
    if (net_.program().sequence) {  // each rank has some of the tokens
      enter("head.residual");
      const ValueId own = block_.add_pending(x);
      enter("head.share");
      x.sum = net_.shared(own);
    }
    enter("head");
    for (ValueId* rows : {&x.sum, &x.pending})
      if (prompt_ && *rows != runtime::kNoValue)
        *rows = graph_.add1(runtime::kEmbedding, "last", {*rows, places_},
                            runtime::ResultAttrs{.dtype = spec_.numerics.activation});
    const HeadArch& head = arch_.head;
    ValueId last = head.norm.empty() ? block_.add_pending(x) : block_.normed("norm", x, head.norm, true);
    if (!head.projection.empty()) last = net_.linear("head.projection", last, head.projection);
    last = net_.before_logits(last, head, arch_.block.norm);
    last = net_.times("logits.scale", last, head.scale);
    graph_.output(net_.logits(last, head, arch_.embedding.name), "logits");
  }

  const DecoderArch arch_;
  const GenerationSpec& spec_;
  const bool prompt_;
  Graph graph_;
  Layers net_;
  Block block_;
  std::vector<Caches> caches_;
  ValueId places_ = runtime::kNoValue;
  std::int64_t layer_ = 0;
};

}  // namespace

std::map<std::string, ValueId> generation_tensors(Graph& graph, const ModelPtr& model, const GenerationSpec& spec) {
  check(spec, model);
  std::map<std::string, ValueId> out;
  for (const GenerationWeight& one : generation_weights(model, spec.tensor_parallel)) {
    const auto [rows, cols] = device_shape(one.spec);
    out[one.spec.name] = graph.tensor(one.spec.name, rows, cols, spec.numerics.weight, Kind::kWeight);
  }
  return out;
}

std::vector<GenerationWeight> generation_weights(const ModelPtr& model, std::int64_t tensor_parallel) {
  const DecoderArch arch = decoder_arch(model);
  std::vector<GenerationWeight> out;
  for (WeightSpec& spec : decoder_weights(model, generation_plan(tensor_parallel))) {
    const bool blocked = spec.shape.size() == 2 && !spec.table, once = spec.once;
    out.push_back({std::move(spec), blocked, once});
  }
  if (arch.head.tied) {
    const std::string table = arch.embedding.name + ".weight";
    WeightSpec head = std::ranges::find(out, table, [](const auto& w) { return w.spec.name; })->spec;
    head.name = arch.head.name + ".weight", head.transposed = true;
    out.push_back({std::move(head), true, false});
  }
  return out;
}

Graph Model::generation(const GenerationSpec& spec, bool prompt) const {
  return Generation{shared_from_this(), spec, prompt}.run();
}

Graph prompt_graph(const ModelPtr& model, const GenerationSpec& spec) { return model->generation(spec, true); }

Graph token_graph(const ModelPtr& model, const GenerationSpec& spec) { return model->generation(spec, false); }

}  // namespace workloads
