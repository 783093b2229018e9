// The step of a model that reads one text and writes another, as nodes.
#include <fmt/format.h>

#include <algorithm>

#include "base/error.h"
#include "runtime/ops/ops.h"
#include "workloads/models/decoder/split_graph.h"
#include "workloads/models/pairs/pair_arch.h"
#include "workloads/step/step_graph.h"

namespace workloads {
namespace {

using runtime::Kind;
using runtime::kNoValue;
using runtime::ValueId;

class PairGraph final : public SplitGraph {
 public:
  PairGraph(const ModelPtr& model, const PairArch& pair, const Step& step)
      : SplitGraph{model, step, step.plan.micro_batch * target_length(step.kind)}, pair_{pair} {}

 private:
  /// A stack of layers: the length of its texts, and the terms that attention adds to its scores.
  struct Stack {
    const PairStack& arch;
    const char *scope, *bias;
    std::int64_t length = 0;
    ValueId distances = kNoValue, biases = kNoValue, positions = kNoValue;
  };

  void declare_tables() override {
    encoder_.length = step_.kind.length, decoder_.length = target_length(step_.kind);
    for (Stack* stack : {&encoder_, &decoder_})
      if (net_.has(stack->arch.table(stack->arch.first)))
        stack->distances = graph_.tensor(fmt::format("distances.{}", stack->arch.name), pair_.buckets.count,
                                         2 * stack->length - 1, step_.plan.numerics.activation, Kind::kInput);
  }

  std::vector<ValueId> forward(std::int64_t number) override {
    const Chunk chunk = chunk_of(step_, number, arch_.layers);
    const std::int64_t batch = step_.plan.micro_batch, rows = batch * step_.kind.length;
    layer_ = -1, mask_ = kNoValue;
    net_.restart_stream();
    const ValueId mask =
        pair_.stem ? kNoValue : net_.input("source_mask", batch, step_.kind.length, step_.plan.numerics.activation);
    const ValueId source = chunk.first ? encode(mask, rows) : receive(number, rows, chunk.from_group);
    return {chunk.last ? decode(source, mask) : send(number, source, chunk.to_group)};
  }

  ValueId encode(ValueId mask, std::int64_t rows) {
    ValueId x = pair_.stem ? stem(net_, pair_.stem)
                           : net_.tokens(arch_.embedding, "embeddings", "input_ids", "vocabulary", rows);
    x = begin(encoder_, x, mask);
    for (layer_ = 0; layer_ < pair_.encoder.layers; ++layer_) {
      begin_layer(encoder_);
      x = attend(x, {.queries = encoder_.length, .mask = mask_, .bias = encoder_.biases});
      x = mlp(x);
    }
    layer_ = -1;
    net_.restart_stream(1);  // 0 is that of the embeddings
    if (pair_.encoder.last_norm.empty()) return x;
    enter("encoder.norm");
    return net_.dropout("norm.dropout", net_.norm("norm", x, arch_.block.norm, pair_.encoder.last_norm),
                        arch_.head.dropout);
  }

  /// All of the decoder's layers read the same tokens, which ranks gather once: their gradients add up before.
  ValueId decode(ValueId source, ValueId mask) {
    layer_ = -1;
    net_.restart_stream(2);
    if (split_) enter("encoder.share");
    source = net_.shared(source);
    ValueId x = net_.tokens(arch_.embedding, "embeddings.target", "decoder_input_ids", "decoder_vocabulary", rows_);
    x = begin(decoder_, x, mask);
    const PairAttention& cross = pair_.decoder.cross;
    for (layer_ = pair_.decoder.first; layer_ < arch_.layers; ++layer_) {
      begin_layer(decoder_);
      x = attend(x, {.queries = decoder_.length, .causal = true, .bias = decoder_.biases});
      x = part("cross", x, {cross.norm, cross.names.out}, [&](ValueId h) {
        return attention("cross", h, source, cross.names, {.queries = decoder_.length, .mask = mask_});
      });
      x = mlp(x);
    }
    return head(x);
  }

  /// Positions, the norm of the sum, and the terms that a stack's layers share: the mask of the source, one bias for
  /// each distance.
  ValueId begin(Stack& stack, ValueId x, ValueId mask) {
    enter(stack.bias);
    x = placed(stack, x);
    x = net_.dropout("dropout", x, arch_.embedding.dropout);
    if (mask_ == kNoValue && mask != kNoValue) mask_ = net_.hidden("mask", mask, isa::Dtype::kFp32);
    if (!stack.arch.each_relative) set_biases(stack, stack.arch.first);
    return x;
  }

  /// The biases by distance of a layer, if it has such.
  void set_biases(Stack& stack, std::int64_t layer) {
    if (stack.distances == kNoValue) return;
    const ValueId by_distance = net_.matmul("distances", net_.w(stack.arch.table(layer)), stack.distances,
                                            {.dtype = step_.plan.numerics.activation});
    stack.biases =
        graph_.add1(runtime::kDiagonals, "biases", {by_distance}, runtime::DiagonalsAttrs{.rows = stack.length});
  }

  /// x at its positions, whose table a stack's first micro-batch declares.
  ValueId placed(Stack& stack, ValueId x) {
    if (!stack.arch.positions.empty()) stack.positions = net_.w(stack.arch.positions + ".weight");
    if (pair_.waves.size > 0 && stack.positions == kNoValue)
      stack.positions = graph_.tensor(fmt::format("positions.{}", stack.arch.name), stack.length, pair_.waves.size,
                                      step_.plan.numerics.activation, Kind::kInput);
    if (stack.positions != kNoValue) {
      const ValueId at = graph_.add1(runtime::kPositions, "position", {stack.positions},
                                     runtime::PositionsAttrs{.batch = step_.plan.micro_batch,
                                                             .seq = stack.length,
                                                             .first = pair_.first_position,
                                                             .dtype = step_.plan.numerics.activation});
      x = net_.add("add_position", x, at);
    }
    if (stack.arch.embedding_norm.empty()) return x;
    return net_.norm("embedding.norm", x, arch_.block.norm, stack.arch.embedding_norm);
  }

  void begin_layer(Stack& stack) {
    stack_ = &stack, prefix_ = stack.arch.prefix(layer_);
    net_.restart_stream();
    if (stack.arch.each_relative) enter_part("bias", stack.scope), set_biases(stack, layer_);
    enter_part("norm", stack.scope);
  }

  /// Names of a part's norm and of the layer that ends it, after the layer's prefix.
  struct PartNames {
    const std::string &norm, &out;
  };

  /// x plus a part of the layer, applied to the norm of x or normed with it; the next part's norm follows in the same
  /// scope.
  template <class Body>
  ValueId part(const std::string& label, ValueId x, const PartNames& names, const Body& body) {
    const bool after = arch_.block.residual.norms == NormPlace::kAfterSum;
    const auto normed = [&](ValueId v) {
      return net_.norm(label + ".norm", v, arch_.block.norm, prefix_ + names.norm);
    };
    ValueId h = after ? x : normed(x);
    // A collective's scope holds nothing else, such as the sum of the gradients of its input and the residual's.
    if (after && split_) h = graph_.add1(runtime::kAffine, label + ".input", {h});
    enter_part(label + ".share", stack_->scope);
    h = net_.shared(h);
    enter_part(label, stack_->scope);
    h = body(h);
    enter_part(label + ".sum", stack_->scope);
    h = net_.summed(h);
    enter_part(label + ".residual", stack_->scope);
    if (const std::string bias = prefix_ + names.out + ".bias"; split_ && net_.has(bias))
      h = net_.add(label + ".bias", h, net_.w(bias));
    h = net_.add(label + ".residual", net_.dropout(label + ".dropout", h, arch_.block.residual.dropout), x);
    return after ? normed(h) : h;
  }

  ValueId attend(ValueId x, const Seen& seen) {
    const PairAttention& self = stack_->arch.self;
    return part("attention", x, {self.norm, self.names.out},
                [&](ValueId h) { return attention("attention", h, h, self.names, seen); });
  }

  /// Partial sums of attention's output; `source`: the input of keys and values.
  ValueId attention(const std::string& label, ValueId h, ValueId source, const AttentionNames& names,
                    const Seen& seen) {
    const ValueId q = net_.linear(label + ".query", h, prefix_ + names.query);
    const ValueId k = net_.linear(label + ".key", source, prefix_ + names.key);
    const ValueId v = net_.linear(label + ".value", source, prefix_ + names.value);
    const ValueId context = net_.heads(label + ".heads", {q, k, v}, arch_.block.attention, seen);
    return net_.row_split(label + ".output", context, prefix_ + names.out);
  }

  ValueId mlp(ValueId x) {
    const PairStack& stack = stack_->arch;
    return part("mlp", x, {stack.mlp_norm, stack.mlp.down},
                [&](ValueId h) { return net_.mlp(h, arch_.block.mlp, with_prefix(prefix_, stack.mlp)); });
  }

  const PairArch& pair_;
  Stack encoder_{.arch = pair_.encoder, .scope = "layer.encoder", .bias = "bias.encoder"};
  Stack decoder_{.arch = pair_.decoder, .scope = "layer.decoder", .bias = "bias.decoder"};
  const Stack* stack_ = nullptr;  // of the present layer
  std::string prefix_;            // of its weights' names
  ValueId mask_ = kNoValue;       // added to the scores of the present micro-batch's source
};

}  // namespace

StepGraph pair_step(const ModelPtr& model, const PairArch& pair, const Step& step) {
  if (pair.positions > 0) {
    require_positions(step.kind.length, pair.source_positions());
    require_positions(target_length(step.kind), pair.positions,
                      step.kind.target_length > 0 ? "max_target_length" : "max_length");
  }
  require_plan(*model, step.plan);
  for (const std::int64_t length : {step.kind.length, target_length(step.kind)})
    if (step.plan.sequence && step.plan.micro_batch * length % step.plan.tensor != 0)
      throw base::Error{base::Fault::kUsage, length == step.kind.length ? "`max_length`" : "`max_target_length`",
                        fmt::format("{} tokens cannot be divided by {} tensor-parallel ranks",
                                    step.plan.micro_batch * length, step.plan.tensor),
                        "choose a length that is a multiple of that, or `disable_sequence_parallel`"};
  return PairGraph{model, pair, step}.run();
}

}  // namespace workloads
