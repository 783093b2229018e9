// The settings of nodes: each op, or family of ops, has its own struct and says so in Op::attrs.
//
// The declaration of a struct is the only list of its members: equality, signatures of blocks and keys of caches follow
// from it (base::fields). A new struct is one more alternative of Attrs. Members of one name mean the same in all:
//   dtype    type of the first result, when it is not that of operand 0
//   operand  type in which TensorE gets its operands, when it is not their own
//   p        probability of dropout; `stream` numbers its random numbers within the scope's instance
#pragma once

#include <concepts>
#include <cstdint>
#include <optional>
#include <type_traits>
#include <utility>
#include <variant>
#include <vector>

#include "isa/program.h"
#include "runtime/graph/expert_attributes.h"
#include "runtime/graph/numerics.h"
#include "runtime/graph/pictures.h"

namespace runtime {

/// For ops without settings.
struct NoAttrs {
  bool operator==(const NoAttrs&) const = default;
};

/// For ops whose only setting is the type of their result.
struct ResultAttrs {
  OptionalType dtype{};
  bool operator==(const ResultAttrs&) const = default;
};

/// x * alpha + beta.
struct AffineAttrs {
  double alpha = 1, beta = 0;
  OptionalType dtype{};
  bool operator==(const AffineAttrs&) const = default;
};

/// Numbers below -limit become -limit, those above limit become limit.
struct ClampAttrs {
  double limit = 0;
  bool above_only = false;
  OptionalType dtype{};
  bool operator==(const ClampAttrs&) const = default;
};

struct ActivationAttrs {
  isa::Fn fn = isa::Fn::kCopy;
  OptionalType dtype{};
  bool operator==(const ActivationAttrs&) const = default;
};

struct DropoutAttrs {
  double p = 0;
  std::uint32_t stream = 0;
  std::uint16_t alike = 0;  // so many neighbouring ranks, which hold the same operand, drop the same elements; 0: one
  bool operator==(const DropoutAttrs&) const = default;
};

/// alpha * x w, or alpha * x w^T.
struct MatmulAttrs {
  double alpha = 1;
  bool trans_b = false;
  bool blocked = false;  // w's rows are in the order of blocked_row()
  OptionalType dtype{}, operand{};
  bool operator==(const MatmulAttrs&) const = default;
};

/// alpha * a^T b.
struct MatmulTnAttrs {
  double alpha = 1;
  bool row_sums = false;  // the sums over the rows of b are a further result
  OptionalType dtype{}, operand{};
  bool operator==(const MatmulTnAttrs&) const = default;
};

/// For matmuls of few rows.
struct SkinnyAttrs {
  isa::Fn fn = isa::Fn::kCopy;  // of skinny_active
  OptionalType dtype{}, operand{};
  bool operator==(const SkinnyAttrs&) const = default;
};

struct NormAttrs {
  double eps = 0;
  std::size_t vectors = 2;  // operands of a layernorm behind x: gamma and beta, gamma alone, or none
  OptionalType dtype{};
  bool operator==(const NormAttrs&) const = default;
};

struct RopeAttrs {
  bool inverse = false;   // turns back
  std::int64_t head = 0;  // elements of a head, of which the first ones turn; 0: all do
  OptionalType dtype{};
  bool operator==(const RopeAttrs&) const = default;
};

struct LossAttrs {
  double scale = 1;          // of the gradient, not of the loss
  double smoothing = 0;      // share of a label that all classes have alike
  std::int64_t classes = 0;  // of all ranks; 0: the columns
  bool masked = false;       // a label's score may be -inf
  OptionalType dtype{};
  bool operator==(const LossAttrs&) const = default;
};

/// The operand of scores that is of heads: the last one, behind a mask of keys.
enum class ScoreTerm : std::uint8_t {
  kNone,
  kBias,    // added to each head's scores
  kSlopes,  // [1, heads]: times a key's number it is added to a head's scores
  kSinks,   // [1, heads]: the score of one more key, whose values are 0
};

struct AttentionAttrs {
  double scale = 1;  // of q k^T; 0: the last operand [1, 1] is data in its place, not with flash
  std::int64_t batch = 0, seq = 0, heads = 0, kv_heads = 0;
  bool causal = false;      // a query sees no later keys
  std::int64_t window = 0;  // with causal: it sees itself and the window - 1 before it; 0: all
  bool flash = false;       // keeps one number per row instead of its probabilities
  ScoreTerm term = ScoreTerm::kNone;
  double soft_cap = 0;         // scores s become soft_cap * tanh(s / soft_cap), before masks; 0: they do not
  std::int64_t tile_keys = 0;  // with flash: keys that are in SBUF at a time, a multiple of 512; 0: all
  /// All keys, and each step is an operation: scores that SBUF cannot hold for all heads pass HBM in between.
  static constexpr std::int64_t kUnfused = -1;
  /// As kUnfused, where the scores of all sequences are one tensor, of 4 bytes each as they leave PSUM.
  static constexpr std::int64_t kUnfusedTogether = -3;
  /// With flash: as many as a kernel takes at a time, also where more would fit.
  static constexpr std::int64_t kByKernel = -2;
  double p = 0;
  std::uint32_t stream = 0;
  OptionalType dtype{}, operand{};
  OptionalType softmax{};  // of scores and probabilities, when it is not q's type
  bool biased() const { return term == ScoreTerm::kBias; }
  bool slopes() const { return term == ScoreTerm::kSlopes; }
  bool sinks() const { return term == ScoreTerm::kSinks; }
  /// Whether query i does not see key j.
  bool hides(std::int64_t i, std::int64_t j) const { return causal && (j > i || (window > 0 && i - j >= window)); }
  bool operator==(const AttentionAttrs&) const = default;
};

struct CachedAttentionAttrs {
  double scale = 1;                                          // of q k^T
  std::int64_t batch = 0, seq = 0, heads = 0, kv_heads = 0;  // seq: rows of each sequence's cache that are read
  std::int64_t window = 0;                                   // tokens that a query sees, itself among them; 0: all
  double soft_cap = 0;                                       // as AttentionAttrs has it
  ScoreTerm term = ScoreTerm::kNone;                         // slopes or sinks
  bool beside = false;                                       // see CacheFillAttrs
  OptionalType dtype{}, operand{};
  bool slopes() const { return term == ScoreTerm::kSlopes; }
  bool sinks() const { return term == ScoreTerm::kSinks; }
  bool operator==(const CachedAttentionAttrs&) const = default;
};

struct CacheFillAttrs {
  std::int64_t batch = 0, seq = 0;
  /// Whether the rows of all sequences at a position are side by side: row n of sequence b, of which each has N, is row
  /// n * batch + b of the cache, otherwise b * N + n.
  bool beside = false;
  bool operator==(const CacheFillAttrs&) const = default;
};

struct EmbeddingGradAttrs {
  std::int64_t rows = 0;  // of the table
  OptionalType dtype{}, operand{};
  bool operator==(const EmbeddingGradAttrs&) const = default;
};

struct PositionsAttrs {
  std::int64_t batch = 0, seq = 0, first = 0;  // first: the row of a sequence's first token
  OptionalType dtype{};
  bool operator==(const PositionsAttrs&) const = default;
};

struct PositionsGradAttrs {
  std::int64_t seq = 0, rows = 0, first = 0;  // rows: of the table
  OptionalType dtype{};
  bool operator==(const PositionsGradAttrs&) const = default;
};

/// For rows that are shifted against each other.
struct DiagonalsAttrs {
  std::int64_t rows = 1;  // of each row's diagonals
  OptionalType dtype{};
  bool operator==(const DiagonalsAttrs&) const = default;
};

/// For ops on every stride-th row.
struct StrideAttrs {
  std::int64_t stride = 0, first = 0;  // rows first, first + stride, ...
  OptionalType dtype{};
  bool operator==(const StrideAttrs&) const = default;
};

/// For optimizers with moments. Values that change from step to step are data: runtime/ops/optimizer_inputs.h.
struct OptimizerAttrs {
  double beta1 = 0.9, beta2 = 0.999, eps = 1e-8;
  bool decays = false;   // weight decay applies to the parameter
  bool forgets = false;  // the moments are not written back
  bool operator==(const OptimizerAttrs&) const = default;
};

/// For updates whose factors are data (runtime/ops/update.cpp). Bit i of `in_place`: result i stays in its memory.
struct UpdateAttrs {
  bool moment = false, adaptive = false, decays = false, ahead = false;
  std::uint32_t in_place = 0;
  bool operator==(const UpdateAttrs&) const = default;
};

struct ClipAttrs {
  double max_norm = 0;  // 0: no limit
  double scale = 1;     // of the clipped gradients: 1 / loss scale
  bool operator==(const ClipAttrs&) const = default;
};

/// For collectives over a replica group.
struct CollectiveAttrs {
  std::int64_t ranks = 1;  // in the group, where the shapes depend on it
  std::uint8_t group = 0;
  isa::Alu alu = isa::Alu::kAdd;  // of a reduction
  bool operator==(const CollectiveAttrs&) const = default;
};

/// For a message to member `peer` of a pair, which is a replica group.
struct SendAttrs {
  std::uint8_t group = 0, peer = 0;
  bool operator==(const SendAttrs&) const = default;
};

/// For a message from member `peer`, [rows, cols] of `dtype`.
struct ReceiveAttrs {
  std::int64_t rows = 0, cols = 0;
  std::uint8_t group = 0, peer = 0;
  OptionalType dtype{};
  bool operator==(const ReceiveAttrs&) const = default;
};

/// One operation on elements of operands that are whole, or a row, a column or one element for all.
enum class ElementForm : std::uint8_t {
  kPair,      // a alu b
  kNumbers,   // (a alu x) then y
  kFunction,  // fn(a * x + y)
  kSelect,    // a is not 0 ? b : c
  kFloor,     // the whole number at a or below
  kRest,      // a - b * the whole number towards 0 of a / b
  kDual,      // (a alu c) then b, c being a column
};
struct ElementAttrs {
  ElementForm form = ElementForm::kPair;
  isa::Alu alu = isa::Alu::kAdd, then = isa::Alu::kNone;
  isa::Fn fn = isa::Fn::kCopy;
  double x = 1, y = 0;
  OptionalType dtype{};
  bool operator==(const ElementAttrs&) const = default;
};

struct ReduceAttrs {
  isa::Alu alu = isa::Alu::kAdd;
  OptionalType dtype{};
  bool operator==(const ReduceAttrs&) const = default;
};

/// The same memory as a matrix of another form, from an element on; with `dtype` its bits as another type.
struct ViewAttrs {
  std::int64_t rows = 1, cols = 1, first = 0;
  OptionalType dtype{};
  bool operator==(const ViewAttrs&) const = default;
};

/// Elements at `first` + the sum of index * stride, for all indices below `sizes`, the last index the fastest.
struct MoveAttrs {
  std::vector<std::int64_t> sizes, strides;
  std::int64_t first = 0;
  std::int64_t rows = 1, cols = 1;  // of the result
  OptionalType dtype{};
  bool operator==(const MoveAttrs&) const = default;
};

/// Elements of each row at `first` + the sum of index * stride, for indices below `sizes`, the last one the fastest.
struct ColumnsAttrs {
  std::vector<std::int64_t> sizes, strides;
  std::int64_t first = 0;
  OptionalType dtype{};
  bool operator==(const ColumnsAttrs&) const = default;
};

/// For rows in equal blocks, each of which has parts of several operands.
struct JoinAttrs {
  std::int64_t blocks = 1;
  OptionalType dtype{};
  bool operator==(const JoinAttrs&) const = default;
};

/// start + row * by_row + column * by_col.
struct RampAttrs {
  std::int64_t rows = 1, cols = 1;
  double start = 0, by_row = 0, by_col = 0;
  OptionalType dtype{};
  bool operator==(const RampAttrs&) const = default;
};

/// y[b] = x[b] w[b] for each b of a batch. Strides are elements: of each axis of the batch, then of x's rows and of the
/// summed axis, of the summed axis and of w's columns.
struct BatchMatmulAttrs {
  std::vector<std::int64_t> batch{};
  std::int64_t m = 1, k = 1, n = 1;
  std::vector<std::int64_t> x{}, w{};
  std::int64_t x_first = 0, w_first = 0;  // elements at which they begin
  OptionalType dtype{}, operand{};
  bool operator==(const BatchMatmulAttrs&) const = default;
};

/// Sums over all features and the window, for each of `outputs` and each place of the pictures.
struct ConvolutionAttrs {
  Pictures x{};
  std::int64_t outputs = 1, w_output = 1, w_feature = 1, w_first = 0;
  OptionalType dtype{}, operand{};
  bool operator==(const ConvolutionAttrs&) const = default;
};

/// The window alone, feature by feature: with weights the sum of products, and `outputs` of them for each feature.
struct WindowAttrs {
  Pictures x{};
  isa::Alu alu = isa::Alu::kAdd;
  double border = 0;  // the number where no pixel is
  bool weighted = false;
  std::int64_t outputs = 1, w_output = 1, w_feature = 1, w_first = 0;
  OptionalType dtype{};
  bool operator==(const WindowAttrs&) const = default;
};

/// Runs of elements at places that data names. An id counts `unit` elements.
struct RunsAttrs {
  std::int64_t run = 1, unit = 1;
  isa::Alu alu = isa::Alu::kNone;  // how an update meets what is there; none: it takes its place
  bool unique = false;             // no id is there twice
  bool operator==(const RunsAttrs&) const = default;
};

using AnyAttrs =
    std::variant<NoAttrs, ResultAttrs, AffineAttrs, ActivationAttrs, DropoutAttrs, MatmulAttrs, MatmulTnAttrs,
                 SkinnyAttrs, NormAttrs, RopeAttrs, LossAttrs, AttentionAttrs, CachedAttentionAttrs, CacheFillAttrs,
                 EmbeddingGradAttrs, PositionsAttrs, PositionsGradAttrs, DiagonalsAttrs, StrideAttrs, OptimizerAttrs,
                 ClipAttrs, CollectiveAttrs, SendAttrs, ReceiveAttrs, RouteAttrs, SlotAttrs, ColumnAttrs, BlocksAttrs,
                 BalanceAttrs, ElementAttrs, ReduceAttrs, ViewAttrs, MoveAttrs, RampAttrs, BatchMatmulAttrs, RunsAttrs,
                 ConvolutionAttrs, WindowAttrs, ColumnsAttrs, JoinAttrs, UpdateAttrs, ClampAttrs, ExpertBlocksAttrs>;
template <class T, class Variant>
inline constexpr bool kIsAlternative = false;
template <class T, class... Alternatives>
inline constexpr bool kIsAlternative<T, std::variant<Alternatives...>> = (std::same_as<T, Alternatives> || ...);

/// The settings of one node.
class Attrs {
 public:
  constexpr Attrs() = default;
  template <class T>
  requires(kIsAlternative<T, AnyAttrs>) constexpr Attrs(T attrs) : held_{std::move(attrs)} {}

  /// Errors: Fault::kInternal when they are of another type.
  template <class T>
  const T& as() const {
    if (const T* attrs = std::get_if<T>(&held_)) return *attrs;
    of_another_op();
  }
  template <class T>
  T& as() {
    return const_cast<T&>(std::as_const(*this).as<T>());
  }

  bool empty() const { return std::holds_alternative<NoAttrs>(held_); }
  bool same_type(const Attrs& other) const { return held_.index() == other.held_.index(); }
  const AnyAttrs& held() const { return held_; }

  // Members that several types share; nothing, or 0, where a type has no such member.
  OptionalType dtype() const;
  OptionalType operand() const;
  double p() const;

  bool operator==(const Attrs&) const = default;

 private:
  [[noreturn]] static void of_another_op();

  AnyAttrs held_;
};

/// Their content in an archive (base/archive.h). For Attrs alone: structs that convert to them are archived themselves.
template <class Archive, std::same_as<Attrs> T>
void each_field(Archive& archive, const T& x) {
  archive(x.held());
}

}  // namespace runtime
