// T5's step as nodes.
#include <fmt/format.h>

#include "base/error.h"
#include "runtime/ops/ops.h"
#include "workloads/models/decoder/split_graph.h"
#include "workloads/models/t5/t5.h"

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
  /// A stack of layers: how long its texts are, and what attention adds to its scores.
  struct Stack {
    const char *name, *scope, *bias;
    std::int64_t length = 0, first = 0;  // first: number of its first layer
    ValueId distances = kNoValue, biases = kNoValue;
  };
  struct Heads {
    std::string label, name;
    ValueId keys;  // what keys and values are made of
    std::int64_t queries = 0;
    bool causal = false;
    ValueId mask = kNoValue, bias = kNoValue;
  };

  void declare_tables() override {
    encoder_.length = spec_.kind.length, decoder_.length = target_length(spec_.kind), decoder_.first = t5_.num_layers;
    for (Stack* stack : {&encoder_, &decoder_})
      if (weights_.contains(table_of(*stack)))
        stack->distances = graph_.tensor(fmt::format("distances.{}", stack->name), t5_.relative_attention_num_buckets,
                                         2 * stack->length - 1, spec_.plan.numerics.activation, Kind::kInput);
  }

  std::vector<ValueId> forward(std::int64_t number) override {
    const Chunk chunk = chunk_of(spec_, number, arch_.layers);
    const std::int64_t batch = spec_.plan.micro_batch, rows = batch * spec_.kind.length;
    layer_ = -1, stream_ = 0;
    mask_ = kNoValue;
    const ValueId mask = input("source_mask", batch, spec_.kind.length, spec_.plan.numerics.activation);
    const ValueId source = chunk.first ? encode(mask, rows) : receive(number, rows, chunk.from_group);
    return {chunk.last ? decode(source, mask) : send(number, source, chunk.to_group)};
  }

  ValueId encode(ValueId mask, std::int64_t rows) {
    ValueId x = tokens("embeddings", "input_ids", "vocabulary", rows);
    x = begin(encoder_, x, mask);
    for (layer_ = 0; layer_ < t5_.num_layers; ++layer_) {
      begin_layer(encoder_);
      x = part("attention", 0, x, [&](ValueId h, const std::string& name) {
        return attention(h, {"attention", name + "SelfAttention.", h, encoder_.length, false, mask_, encoder_.biases});
      });
      x = part("mlp", 1, x, [&](ValueId h, const std::string& name) { return mlp(h, name); });
    }
    layer_ = -1, stream_ = 1;  // 0 is that of the embeddings
    enter("encoder.norm", micro_);
    return dropout("norm.dropout", norm("norm", x, "encoder.final_layer_norm"), arch_.dropout);
  }

  /// All of the decoder's layers read the same tokens, which ranks gather once: their gradients add up before.
  ValueId decode(ValueId source, ValueId mask) {
    layer_ = -1, stream_ = 2;
    if (split_) enter("encoder.share", micro_);
    source = shared(source);
    ValueId x = tokens("embeddings.target", "decoder_input_ids", "decoder_vocabulary", rows_);
    x = begin(decoder_, x, mask);
    for (layer_ = decoder_.first; layer_ < arch_.layers; ++layer_) {
      begin_layer(decoder_);
      x = part("attention", 0, x, [&](ValueId h, const std::string& name) {
        return attention(h,
                         {"attention", name + "SelfAttention.", h, decoder_.length, true, kNoValue, decoder_.biases});
      });
      x = part("cross", 1, x, [&](ValueId h, const std::string& name) {
        return attention(h, {"cross", name + "EncDecAttention.", source, decoder_.length, false, mask_, kNoValue});
      });
      x = part("mlp", 2, x, [&](ValueId h, const std::string& name) { return mlp(h, name); });
    }
    return head(x);
  }

  std::string table_of(const Stack& stack) const {
    return fmt::format("{}.block.0.layer.0.SelfAttention.relative_attention_bias.weight", stack.name);
  }

  /// What a stack's layers have in common: the mask of the source and one bias for each distance.
  ValueId begin(Stack& stack, ValueId x, ValueId mask) {
    enter(stack.bias, micro_);
    x = dropout("dropout", x, arch_.embedding_dropout);
    if (mask_ == kNoValue) {
      // What hides a key: large, and still a number in fp16.
      const double hide = spec_.plan.numerics.softmax == isa::Dtype::kFp16 ? 3e4 : 1e9;
      mask_ = graph_.add1(runtime::kAffine, "mask", {mask},
                          runtime::AffineAttrs{.alpha = hide, .beta = -hide, .dtype = isa::Dtype::kFp32});
    }
    const ValueId by_distance = graph_.add1(
        runtime::kMatmul, "distances", {w(table_of(stack)), stack.distances},
        runtime::MatmulAttrs{.dtype = spec_.plan.numerics.activation, .operand = spec_.plan.numerics.operand});
    stack.biases =
        graph_.add1(runtime::kDiagonals, "biases", {by_distance}, runtime::DiagonalsAttrs{.rows = stack.length});
    return x;
  }

  void begin_layer(const Stack& stack) {
    stack_ = &stack, stream_ = 0;
    enter_part("norm", stack.scope);
  }

  /// x and what a part of the layer makes of its norm; the next part's norm follows in the same scope.
  template <class Body>
  ValueId part(const std::string& label, std::int64_t number, ValueId x, const Body& body) {
    const std::string name = fmt::format("{}.block.{}.layer.{}.", stack_->name, layer_ - stack_->first, number);
    ValueId h = norm(label + ".norm", x, name + "layer_norm");
    enter_part(label + ".share", stack_->scope);
    h = shared(h);
    enter_part(label, stack_->scope);
    h = body(h, name);
    enter_part(label + ".sum", stack_->scope);
    h = summed(h);
    enter_part(label + ".residual", stack_->scope);
    return graph_.add1(runtime::kAdd, label + ".residual", {dropout(label + ".dropout", h, arch_.dropout), x});
  }

  /// Partial sums of attention's output. Softmax is in fp32, as modeling_t5 has it.
  ValueId attention(ValueId h, const Heads& of) {
    const ValueId q = linear(of.label + ".query", h, of.name + "q");
    const ValueId k = linear(of.label + ".key", of.keys, of.name + "k");
    const ValueId v = linear(of.label + ".value", of.keys, of.name + "v");
    std::vector<ValueId> in{q, k, v};
    for (const ValueId more : {of.mask, of.bias})
      if (more != kNoValue) in.push_back(more);
    const std::int64_t heads = arch_.heads / spec_.plan.tensor;
    const runtime::AttentionAttrs attrs{.scale = score_scale(arch_),
                                        .batch = spec_.plan.micro_batch,
                                        .seq = of.queries,
                                        .heads = heads,
                                        .kv_heads = heads,
                                        .causal = of.causal,
                                        .biased = of.bias != kNoValue,
                                        .p = spec_.kind.training ? arch_.attention_dropout : 0,
                                        .stream = stream_++,
                                        .operand = spec_.plan.numerics.operand,
                                        .softmax = isa::Dtype::kFp32};
    const ValueId context = graph_.add(runtime::kAttention, of.label + ".heads", in, attrs)[0];
    return linear(of.label + ".output", context, of.name + "o");
  }

  ValueId mlp(ValueId h, const std::string& layer) {
    const std::string name = layer + "DenseReluDense.";
    ValueId x = linear("mlp.up", h, name + (t5_.gated ? "wi_0" : "wi"));
    x = graph_.add1(runtime::kActivate, "mlp.activation", {x}, runtime::ActivationAttrs{.fn = arch_.activation});
    if (t5_.gated) x = graph_.add1(runtime::kMul, "mlp.product", {x, linear("mlp.gate", h, name + "wi_1")});
    return linear("mlp.down", dropout("mlp.inner.dropout", x, arch_.dropout), name + "wo");
  }

  const T5Config& t5_;
  Stack encoder_{.name = "encoder", .scope = "layer.encoder", .bias = "bias.encoder"};
  Stack decoder_{.name = "decoder", .scope = "layer.decoder", .bias = "bias.decoder"};
  const Stack* stack_ = nullptr;  // of the present layer
  ValueId mask_ = kNoValue;       // added to the scores of the present micro-batch's source
};

}  // namespace

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
