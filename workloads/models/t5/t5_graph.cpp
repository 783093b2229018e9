// T5's step as nodes.
#include <fmt/format.h>

#include "base/error.h"
#include "runtime/ops/ops.h"
#include "workloads/models/decoder/split_graph.h"
#include "workloads/models/t5/t5.h"
#include "workloads/step/step_graph.h"

namespace workloads {
namespace {

using runtime::Kind;
using runtime::kNoValue;
using runtime::ValueId;

class T5Graph final : public SplitGraph {
 public:
  T5Graph(const ModelPtr& model, const T5Config& config, const Step& step)
      : SplitGraph{model, step, step.plan.micro_batch * target_length(step.kind)}, t5_{config} {}

 private:
  /// A stack of layers: the length of its texts, and the terms that attention adds to its scores.
  struct Stack {
    const char *name, *scope, *bias;
    std::int64_t length = 0, first = 0;  // first: number of its first layer
    ValueId distances = kNoValue, biases = kNoValue;
  };

  void declare_tables() override {
    encoder_.length = step_.kind.length, decoder_.length = target_length(step_.kind), decoder_.first = t5_.num_layers;
    for (Stack* stack : {&encoder_, &decoder_})
      if (net_.has(table_of(*stack)))
        stack->distances = graph_.tensor(fmt::format("distances.{}", stack->name), t5_.relative_attention_num_buckets,
                                         2 * stack->length - 1, step_.plan.numerics.activation, Kind::kInput);
  }

  std::vector<ValueId> forward(std::int64_t number) override {
    const Chunk chunk = chunk_of(step_, number, arch_.layers);
    const std::int64_t batch = step_.plan.micro_batch, rows = batch * step_.kind.length;
    layer_ = -1, mask_ = kNoValue;
    net_.restart_stream();
    const ValueId mask = net_.input("source_mask", batch, step_.kind.length, step_.plan.numerics.activation);
    const ValueId source = chunk.first ? encode(mask, rows) : receive(number, rows, chunk.from_group);
    return {chunk.last ? decode(source, mask) : send(number, source, chunk.to_group)};
  }

  ValueId encode(ValueId mask, std::int64_t rows) {
    ValueId x = net_.tokens(arch_.embedding, "embeddings", "input_ids", "vocabulary", rows);
    x = begin(encoder_, x, mask);
    for (layer_ = 0; layer_ < t5_.num_layers; ++layer_) {
      begin_layer(encoder_);
      x = part("attention", 0, x, [&](ValueId h, const std::string& name) {
        return attention("attention", h, h, name + "SelfAttention.",
                         {.queries = encoder_.length, .mask = mask_, .bias = encoder_.biases});
      });
      x = part("mlp", 1, x, [&](ValueId h, const std::string& name) { return mlp(h, name); });
    }
    layer_ = -1;
    net_.restart_stream(1);  // 0 is that of the embeddings
    enter("encoder.norm");
    return net_.dropout("norm.dropout", net_.norm("norm", x, arch_.block.norm, "encoder.final_layer_norm"),
                        arch_.block.residual.dropout);
  }

  /// All of the decoder's layers read the same tokens, which ranks gather once: their gradients add up before.
  ValueId decode(ValueId source, ValueId mask) {
    layer_ = -1;
    net_.restart_stream(2);
    if (split_) enter("encoder.share");
    source = net_.shared(source);
    ValueId x = net_.tokens(arch_.embedding, "embeddings.target", "decoder_input_ids", "decoder_vocabulary", rows_);
    x = begin(decoder_, x, mask);
    for (layer_ = decoder_.first; layer_ < arch_.layers; ++layer_) {
      begin_layer(decoder_);
      x = part("attention", 0, x, [&](ValueId h, const std::string& name) {
        return attention("attention", h, h, name + "SelfAttention.",
                         {.queries = decoder_.length, .causal = true, .bias = decoder_.biases});
      });
      x = part("cross", 1, x, [&](ValueId h, const std::string& name) {
        return attention("cross", h, source, name + "EncDecAttention.", {.queries = decoder_.length, .mask = mask_});
      });
      x = part("mlp", 2, x, [&](ValueId h, const std::string& name) { return mlp(h, name); });
    }
    return head(x);
  }

  std::string table_of(const Stack& stack) const {
    return fmt::format("{}.block.0.layer.0.SelfAttention.relative_attention_bias.weight", stack.name);
  }

  /// Shared by a stack's layers: the mask of the source and one bias for each distance.
  ValueId begin(Stack& stack, ValueId x, ValueId mask) {
    enter(stack.bias);
    x = net_.dropout("dropout", x, arch_.embedding.dropout);
    if (mask_ == kNoValue) mask_ = net_.hidden("mask", mask, isa::Dtype::kFp32);
    const ValueId by_distance =
        net_.matmul("distances", net_.w(table_of(stack)), stack.distances, {.dtype = step_.plan.numerics.activation});
    stack.biases =
        graph_.add1(runtime::kDiagonals, "biases", {by_distance}, runtime::DiagonalsAttrs{.rows = stack.length});
    return x;
  }

  void begin_layer(const Stack& stack) {
    stack_ = &stack;
    net_.restart_stream();
    enter_part("norm", stack.scope);
  }

  /// x plus a part of the layer applied to its norm; the next part's norm follows in the same scope.
  template <class Body>
  ValueId part(const std::string& label, std::int64_t number, ValueId x, const Body& body) {
    const std::string name = fmt::format("{}.block.{}.layer.{}.", stack_->name, layer_ - stack_->first, number);
    ValueId h = net_.norm(label + ".norm", x, arch_.block.norm, name + "layer_norm");
    enter_part(label + ".share", stack_->scope);
    h = net_.shared(h);
    enter_part(label, stack_->scope);
    h = body(h, name);
    enter_part(label + ".sum", stack_->scope);
    h = net_.summed(h);
    enter_part(label + ".residual", stack_->scope);
    return net_.add(label + ".residual", net_.dropout(label + ".dropout", h, arch_.block.residual.dropout), x);
  }

  /// Partial sums of attention's output; `source`: the input of keys and values.
  ValueId attention(const std::string& label, ValueId h, ValueId source, const std::string& name, const Seen& seen) {
    const ValueId q = net_.linear(label + ".query", h, name + "q");
    const ValueId k = net_.linear(label + ".key", source, name + "k");
    const ValueId v = net_.linear(label + ".value", source, name + "v");
    const ValueId context = net_.heads(label + ".heads", {q, k, v}, arch_.block.attention, seen);
    return net_.row_split(label + ".output", context, name + "o");
  }

  ValueId mlp(ValueId h, const std::string& layer) { return net_.mlp(h, arch_.block.mlp, t5_mlp(t5_, layer)); }

  const T5Config& t5_;
  Stack encoder_{.name = "encoder", .scope = "layer.encoder", .bias = "bias.encoder"};
  Stack decoder_{.name = "decoder", .scope = "layer.decoder", .bias = "bias.decoder"};
  const Stack* stack_ = nullptr;  // of the present layer
  ValueId mask_ = kNoValue;       // added to the scores of the present micro-batch's source
};

}  // namespace

MlpNames t5_mlp(const T5Config& c, const std::string& layer) {
  const std::string name = layer + "DenseReluDense.";
  return {.gate = name + "wi_0", .up = name + (c.gated ? "wi_1" : "wi"), .down = name + "wo"};
}

std::int64_t target_length(const StepKind& kind) { return kind.target_length > 0 ? kind.target_length : kind.length; }

StepGraph t5_step(const ModelPtr& model, const T5Config& config, const Step& step) {
  require_plan(*model, step.plan);
  for (const std::int64_t length : {step.kind.length, target_length(step.kind)})
    if (step.plan.sequence && step.plan.micro_batch * length % step.plan.tensor != 0)
      throw base::Error{base::Fault::kUsage, length == step.kind.length ? "`max_length`" : "`max_target_length`",
                        fmt::format("{} tokens are not divided by {} tensor-parallel ranks",
                                    step.plan.micro_batch * length, step.plan.tensor),
                        "choose a length that they divide, or `disable_sequence_parallel`"};
  return T5Graph{model, config, step}.run();
}

}  // namespace workloads
