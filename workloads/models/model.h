// A model of any family: its sizes, weights and graphs. A family is a subclass in
// workloads/models/FAMILY/ and a row of workloads/models/registry.cpp.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "isa/program.h"
#include "workloads/models/config.h"
#include "workloads/models/decoder/decoder_arch.h"
#include "workloads/models/lora.h"
#include "workloads/models/tensor_names.h"
#include "workloads/models/weights.h"
#include "workloads/step/step.h"

namespace runtime {
class Graph;
}

namespace workloads {

struct GenerationSpec;  // workloads/models/decoder/generation_graph.h
struct StepGraph;       // workloads/step/step_graph.h

/// 0: the family has no such size; in Model::with_sizes(): unchanged.
struct Sizes {
  std::int64_t layers = 0, hidden = 0, heads = 0, kv_heads = 0;
  std::int64_t head = 0;  // elements of one
  std::int64_t ffn = 0, vocabulary = 0, positions = 0;
  std::int64_t experts = 0;       // of a layer, each with an ffn of its own
  std::int64_t shared = 0;        // the ffn of an expert that every token has
  std::int64_t dense = 0;         // the ffn of layers without experts, where others have them
  bool joint_heads = false;       // all heads of a layer share one norm, in which padded ones would count
  bool whole_vocabulary = false;  // ranks hold all of it, where their number does not divide it
  bool splits_vocabulary(std::int64_t ranks) const { return !whole_vocabulary || vocabulary % ranks == 0; }
};

/// The parts of a model that cores can share.
enum class Sharing : std::uint8_t {
  kNone,
  kTensors,  // those of each layer: tensor parallelism
  kAll,      // layers and tokens too: pipeline stages, sequence parallelism
};

/// The special ids of a model's token table.
struct TokenIds {
  std::int64_t vocabulary = 0;
  std::optional<std::int64_t> pad{}, begin{}, end{}, mask{};
};

/// Tokens that hide others have no embedding, and the rest of their sequence grows by as much: the host says by which
/// factor. Source: transformers, modeling_esm.py, EsmEmbeddings.
struct TokenFading {
  std::int64_t mask = 0;      // the token
  double usual = 0.15 * 0.8;  // the share of hidden tokens at which nothing grows
};

/// Pictures that a model reads: [channels, size, size], cut into patches of patch x patch.
struct ImageShape {
  std::int64_t size = 0, channels = 0, patch = 0;
  std::int64_t specials = 1;  // tokens without pixels before the patches: of the class, perhaps of a teacher's too
  std::int64_t patches() const { return (size / patch) * (size / patch); }
  std::int64_t tokens() const { return specials + patches(); }
  std::int64_t patch_elements() const { return channels * patch * patch; }
  std::int64_t elements() const { return channels * size * size; }
};

/// Sounds that a model reads: a spectrum of `bands` in each frame of a recording of fixed length; two frames become a
/// token.
struct SoundShape {
  std::int64_t tokens = 0, bands = 0;
  std::int64_t frames() const { return 2 * tokens; }
  std::int64_t elements() const { return frames() * bands; }
};

/// The labels that a model learns: data, loss and scores follow from it (workloads/tasks/task.h).
enum class Task : std::uint8_t {
  kClassification,  // a label of each sample
  kNextToken,       // the next token, for each token of a text: the model can generate
  kTextToText,      // the next token of a text that answers another one, or a sound
  kMaskedTokens,    // the hidden tokens of a text
};

/// The special tokens of a text-to-text model's output: before the first one, after the last, and padding.
struct TextPairs {
  std::int64_t start = 0, end = 1, pad = 0;
  std::int64_t layers = 0;               // of the decoder
  bool last_first = false;               // in training the decoder reads a text's last token in place of `start`
  std::optional<std::int64_t> forced{};  // the first token that is written, whatever the model says
  std::vector<std::int64_t> never{};     // tokens that are never written
};

/// A tensor of a step that stays the same from step to step, for every rank that has it.
struct HostTable {
  std::string name;
  std::vector<float> values;
};

/// The reason why something is impossible, in the words of an error.
struct Problem {
  std::string where, what, fix;
};

/// Operations that a framework dispatches for one micro-batch on one rank, and the parameter tensors that the optimizer
/// visits. Counted with PyTorch's dispatch mode (with views and casts, which the host also dispatches) on one layer of
/// the reference implementation; embeddings, masks and heads likewise. Collectives of tensor and
/// sequence parallelism count as torch_xla's all_reduce, all_gather and reduce_scatter dispatch.
struct FrameworkOps {
  double forward = 0;
  double backward = 0;  // with recomputation, and accumulation to earlier gradients
  double tensors = 0;
};

/// Operations of one layer. `core`: of the forward operations, those between the projections of attention, which
/// selective recomputation repeats.
struct LayerOps {
  double forward, backward, core;
};
/// The backward pass with those that it repeats.
LayerOps with_recomputation(LayerOps layer, Recompute recompute);
/// With the adapters beside the linear layers of layer `number`, whose own weights have no gradient.
LayerOps with_adapter_ops(LayerOps layer, const std::optional<Lora>& lora, const std::vector<WeightSpec>& weights,
                          std::int64_t number = 0);

/// Matmul FLOPs of a step: a pass forward, and twice that backward, once where weights are frozen.
struct ForwardFlops {
  double linear = 0;  // of weights that adapters freeze
  double others = 0;  // products of activations, and those of weights that are trained beside frozen ones
};
double step_flops(ForwardFlops forward, bool training, const std::optional<Lora>& lora);
/// Those of the adapters, for a token.
double adapter_flops(const std::vector<WeightSpec>& weights);

/// A description of a model, as a value.
struct ModelInfo {
  std::string_view family;  // "BERT", "Llama", "GPT"
  Sizes sizes{};
  Task task = Task::kClassification;
  Head head = Head::kNone;
  double initializer_range = 0.02;  // standard deviation of the first values
  Sharing sharing = Sharing::kNone;
  std::optional<Lora> lora{};              // adapters that are trained beside frozen weights
  bool given = false;                      // a framework's program: its step is as it is written, forward or training
  bool free_heads = false;                 // the model's width does not depend on their number
  std::vector<std::string> label_names{};  // of a classifier
  std::optional<std::int64_t> pad_row{};   // of the token table: drawn as zeros
  std::optional<TokenFading> fading{};
  std::optional<ImageShape> image{};     // its input
  std::optional<SoundShape> sound{};     // the same
  std::optional<TextPairs> pairs{};      // of a text-to-text model
  std::optional<DecoderArch> decoder{};  // of a model that generates text
  TensorNames names{};
};

/// The changes of a copy; a family ignores members that it does not have.
struct ModelChange {
  Sizes sizes{};
  std::optional<TokenIds> tokens{};
  std::optional<std::vector<std::string>> labels{};
  std::optional<Head> head{};
  bool own_head = false;  // an output layer of its own instead of the token table
  bool no_dropout = false;
  std::optional<ImageShape> image{};
  /// Freezes the model and adds adapters; a contained nullopt removes them.
  std::optional<std::optional<Lora>> lora{};
  /// Each expert's slots relative to an even share of the tokens; 0: for all tokens.
  std::optional<double> capacity_factor{};
};

class Model : public std::enable_shared_from_this<Model> {
 public:
  virtual ~Model() = default;

  const ModelInfo& info() const { return info_; }

  /// All tensors of the whole model, in its order. Tied copies (a head that is the token table) are not listed.
  virtual std::vector<WeightSpec> weights() const = 0;
  /// The step of the ranks of step.stage. The family's header documents the host's inputs and outputs.
  /// Errors: Fault::kUsage for sizes or a plan that the model does not take.
  virtual StepGraph step(const Step& step) const = 0;
  /// prompt_graph() or token_graph() of workloads/models/decoder/generation_graph.h.
  virtual runtime::Graph generation(const GenerationSpec& spec, bool prompt) const;
  /// The tables that the host writes before the first step, besides weights; or, with a position, before the token
  /// there of a generated text of at most kind.length.
  virtual std::vector<HostTable> host_tables(const StepKind&, std::optional<std::int64_t>) const { return {}; }
  /// Matmul FLOPs of an optimizer step by the textbook, over all ranks and micro-batches.
  virtual double flops(const Step& step) const = 0;
  virtual FrameworkOps traced_ops(const Step& step) const = 0;
  /// The reason why the model cannot be trained with a plan, if it cannot.
  virtual std::optional<Problem> refuses(const Plan& plan) const = 0;

  /// The config.json that transformers' from_pretrained reads: architectures and every field. Ends with a newline.
  virtual std::string config_json() const = 0;
  /// Errors: Fault::kData at `where` for sizes that are not positive or do not divide.
  virtual void require_valid(std::string_view where) const = 0;
  /// Errors: Fault::kUsage for adapters or slots that the model does not take.
  virtual ModelPtr with(const ModelChange& change) const = 0;

  // ---- derived from these

  std::string_view family() const { return info_.family; }
  const Sizes& sizes() const { return info_.sizes; }
  Task task() const { return info_.task; }
  Head head() const { return info_.head; }
  bool is_given() const { return info_.given; }
  /// Whether cores can share all of it, and at least the tensors of a layer.
  bool splits() const { return info_.sharing == Sharing::kAll; }
  bool shares_tensors() const { return info_.sharing != Sharing::kNone; }
  const std::vector<std::string>& label_names() const { return info_.label_names; }
  const DecoderArch* decoder() const { return info_.decoder ? &*info_.decoder : nullptr; }
  const TextPairs* pairs() const { return info_.pairs ? &*info_.pairs : nullptr; }
  const ImageShape* image() const { return info_.image ? &*info_.image : nullptr; }
  const SoundShape* sound() const { return info_.sound ? &*info_.sound : nullptr; }
  /// The tokens of a picture or a sound, of which all have as many; 0: texts have any length.
  std::int64_t fixed_length() const { return image() ? image()->tokens() : sound() ? sound()->tokens : 0; }
  /// The adapters that are trained beside frozen weights, if there are any.
  const std::optional<Lora>& lora() const { return info_.lora; }
  /// Whether generation ends with this token.
  bool ends_text(std::int64_t id) const;
  /// Tokens of a sequence, when the user wants `length`: a picture or a sound has as many as it has.
  std::int64_t sequence_length(std::int64_t length) const { return fixed_length() > 0 ? fixed_length() : length; }
  /// Bytes that a framework's host copies in for a sample: ids, types and mask of each token as int64, of pairs of
  /// texts ids, mask and labels, or fp32 pixels, or fp32 spectra and labels.
  double input_bytes(const StepKind& kind) const;
  /// The least number of elements that the backward pass of a micro-batch of sequences of `length` reads of a layer on
  /// one rank: the inputs of its six linear layers, three of which share one, and the probabilities of attention. For
  /// pairs of texts, of the encoder's layers.
  double kept_elements(const Plan& plan, std::int64_t length) const;
  /// The replica groups of a plan.
  isa::GroupTables groups(const Plan& plan) const;
  std::vector<HostTable> tables(const StepKind& kind) const { return host_tables(kind, std::nullopt); }

  ModelPtr with_sizes(const Sizes& sizes) const { return with({.sizes = sizes}); }
  ModelPtr with_tokens(const TokenIds& tokens) const { return with({.tokens = tokens}); }
  ModelPtr with_labels(std::vector<std::string> labels) const { return with({.labels = std::move(labels)}); }
  ModelPtr with_head(Head head) const { return with({.head = head}); }
  ModelPtr with_lora(const std::optional<Lora>& lora) const { return with({.lora = lora}); }
  ModelPtr with_capacity_factor(double factor) const { return with({.capacity_factor = factor}); }
  ModelPtr without_dropout() const { return with({.no_dropout = true}); }
  /// As `ranks` that share tensors hold it when text is written: heads, each as wide as before, and feed-forward sizes
  /// are padded to multiples of `ranks`, as far as the model's width does not depend on them.
  ModelPtr padded_for(std::int64_t ranks) const;

 protected:
  explicit Model(ModelInfo info) : info_{std::move(info)} {}
  Model(const Model&) = delete;
  Model& operator=(const Model&) = delete;

  /// Errors: as with().
  void require_possible(const ModelChange& change) const;

 private:
  const ModelInfo info_;
};

/// Errors: Fault::kUsage with the model's problem, when it has one with the plan.
void require_plan(const Model& model, const Plan& plan);

/// Why a plan is not one of an encoder, whose cores can share the tensors of its layers.
std::optional<Problem> encoder_problem(const Plan& plan, const Sizes& sizes);

}  // namespace workloads
