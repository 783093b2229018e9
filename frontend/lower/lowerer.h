// The state of a lowering. Each file of this folder has the lowering of a family of operators.
#pragma once

#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <tuple>
#include <vector>

#include "frontend/graph/producers.h"
#include "frontend/lower/lower.h"
#include "frontend/lower/view.h"
#include "runtime/graph/op.h"

namespace trnsim::frontend {

/// The values of a function, one of several in a loop.
struct Frame {
  const Function& function;
  std::vector<View> values;
  const std::vector<std::size_t>& last_use;  // the node that reads each value last; the count of nodes: the caller does
  const Frame* caller = nullptr;
  std::size_t at = 0;                    // the node that is lowered
  std::optional<Producers> producers{};  // once a rule has asked
};

class Lowerer {
 public:
  Lowerer(const Module& module, const LowerOptions& options);
  LoweredGraph run();

  // ---- for the families

  const Module& module() const { return module_; }
  const LowerOptions& options() const { return options_; }
  runtime::Graph& graph() { return out_.graph; }
  Frame& frame() { return *frame_; }
  /// The node of this function that makes a value; nullptr: a parameter.
  const Node* producer(ValueId value);
  const Node& node() const { return *node_; }
  [[noreturn]] void refuse(std::string_view what, std::string_view fix) const;
  std::string where() const;
  /// The numbers of the present node cannot be computed, its time can.
  void only_timed(std::string_view why);

  const Type& type_in(std::size_t i) const { return frame_->function.type(node_->operands[i]); }
  const Type& type_out(std::size_t i = 0) const {
    return frame_->function.type(node_->result(static_cast<std::uint32_t>(i)));
  }
  const View& in(std::size_t i) const { return frame_->values[node_->operands[i]]; }
  void set(View view, std::size_t i = 0) {
    frame_->values[node_->result(static_cast<std::uint32_t>(i))] = std::move(view);
  }
  Dtype dtype_out(std::size_t i = 0) const { return device_type(type_out(i).element, where()); }

  /// Adds a node in the present scope.
  runtime::ValueId add(const runtime::Op& op, std::vector<runtime::ValueId> in, runtime::Attrs attrs);
  /// The same, with all of its results.
  std::vector<runtime::ValueId> add_all(const runtime::Op& op, std::vector<runtime::ValueId> in, runtime::Attrs attrs);
  /// The elements of a view one behind the other as [rows, cols]; a copy where they are elsewhere.
  runtime::ValueId matrix(const View& view, std::int64_t rows, std::int64_t cols);
  /// The same of the form that its own dimensions give it: the last one is the columns.
  runtime::ValueId matrix(const View& view);
  /// The elements of a view of `rows` rows that are cheaper picked from rows of its memory in SBUF than copied by DMA.
  std::optional<InRows> taken_columns(const View& view, std::int64_t rows) const;
  /// Whether the present call makes a value row by row.
  bool is_made_here(runtime::ValueId value) const;
  /// A view with elements one behind the other, of memory that nothing else reads: it may be written in place.
  View owned_copy(const View& view);
  void own(runtime::ValueId value) { owned_.insert(value); }
  /// The largest size of a number of a constant of the program; infinite: the value is none.
  double constant_bound(runtime::ValueId value) const;
  void note_constant(runtime::ValueId value, double largest) { constant_bounds_.emplace(value, largest); }
  /// Writes `part` into the elements of `whole` that `place` views: the whole with them, under its new name.
  View written(View whole, const View& place, const View& part);
  /// Whether operand i's memory may be written: it is the program's own or donated, and nothing reads it later.
  bool may_write(std::size_t i) const;
  /// Operand i if its memory may be written: it is the program's own, and nothing reads it later under any name.
  /// Else a copy.
  View to_write(std::size_t i);
  /// Values that each trip of a loop reads are not written in place until the guard goes.
  void pin(const View& view) {
    if (!view.is_number()) pinned_.push_back(graph().root(view.base));
  }
  void unpin(std::size_t count) { pinned_.resize(pinned_.size() - count); }
  std::size_t pinned() const { return pinned_.size(); }
  /// A view of a matrix that was just computed, in the result's dimensions.
  void set_result(runtime::ValueId value, std::size_t i = 0) {
    set(dense_view(value, type_out(i).dims, dtype_out(i)), i);
  }
  /// The same function of each element, on views of the same dimensions.
  View element(const runtime::ElementAttrs& attrs, const std::vector<View>& in, const Dims& dims, Dtype dtype);

  /// The results of a function on these arguments, in place.
  std::vector<View> called(const Function& function, std::vector<View> arguments);
  /// The next node begins a call of its own, and the one behind it another.
  void cut() { work_ = kMostJoined + 1; }
  std::uint8_t group_of(const IntTable& groups);

  LoweredGraph& out() { return out_; }

 private:
  static constexpr double kMostWork = 1500;      // row tiles of a call,
  static constexpr double kMostJoined = 20'000;  // and of one that element-wise operations on its last rows extend

  runtime::ValueId taken(const View& view, const InRows& columns, std::int64_t rows);
  std::optional<runtime::ValueId> spread_in_rows(const View& view, std::int64_t rows);
  void begin_work(double tiles, bool joins);
  bool joins(const runtime::Op& op, const std::vector<runtime::ValueId>& in) const;
  void begin_own_scope();
  std::string label() const;
  bool is_own_result(const View& view) const;
  void parameters(const Function& entry, std::vector<View>& out);
  void results(const std::vector<View>& values);
  void assign(runtime::ValueId from, runtime::ValueId into);
  bool without_elements();
  void lower_node(const Node& node, std::size_t number);
  void require_sizes() const;
  /// Whether a call writes the memory of its first operand.
  bool writes_first(const runtime::Op& op, const std::vector<runtime::ValueId>& in, const runtime::Attrs& attrs) const;
  bool other_names(const std::vector<runtime::ValueId>& in, bool writes) const;
  void note_uses(const std::vector<runtime::ValueId>& in, bool writes);

  const Module& module_;
  const LowerOptions options_;
  LoweredGraph out_;
  std::map<const Function*, std::vector<std::size_t>> last_uses_;  // of the module's functions
  Frame* frame_ = nullptr;
  const Node* node_ = nullptr;
  int depth_ = 0;
  double work_ = 0;
  std::int64_t calls_ = 0;
  std::vector<runtime::ValueId> parameters_;
  std::set<runtime::ValueId> owned_, donated_;
  std::vector<runtime::ValueId> pinned_;
  /// Names of memory in the present call, by its root, and whether it was written by them.
  std::map<runtime::ValueId, std::map<runtime::ValueId, bool>> uses_;
  std::map<std::tuple<runtime::ValueId, std::int64_t, std::int64_t, std::int64_t>, runtime::ValueId> views_;
  std::map<std::tuple<runtime::ValueId, std::int64_t, Dims, Dims>, runtime::ValueId> copies_;
  std::map<std::tuple<runtime::ValueId, std::int64_t, Dims, Dims, std::uint32_t>, runtime::ValueId> taken_;
  std::map<std::tuple<std::uint64_t, std::int64_t, std::int64_t, Dtype>, runtime::ValueId> numbers_;  // by their bits
  std::map<runtime::ValueId, double> constant_bounds_;
  isa::GroupTables groups_;
  bool own_ = false;  // trnsim wrote the program: its scopes, kinds and groups are in it
};

/// Rows and columns of dimensions: the last one is the columns.
std::pair<std::int64_t, std::int64_t> matrix_form(const Dims& dims);
/// A view of `rows` rows without what it repeats within a row.
View without_repeats(const View& view, std::int64_t rows);
/// Views side by side along dimension `d`, where rows of them are better joined in SBUF than written by DMA.
std::optional<View> joined_in_rows(Lowerer& l, const std::vector<View>& parts, std::size_t d);
/// An attribute of a module that trnsim wrote (frontend/hlo/attrs_text.h); empty: it did not.
std::string own_attribute(const Module& module, std::string_view key);

/// Sums, differences and products of integers, which wrap.
View integer_pair(Lowerer& l, isa::Alu alu, const View& a, const View& b);
/// Integers of 32 bits as those of a type that has as many or fewer.
View lowest_bits(Lowerer& l, const View& wide, Dtype dtype);

/// The results of a region of scalars for each element of tensors of equal dimensions. Errors: base::Fault::kProgram
/// for a region with other than element-wise operators.
std::vector<View> computed_elements(Lowerer& l, const Region& region, std::vector<View> arguments);

/// A function of one tensor as another operator's name has it: "chlo.asinh".
void apply_function(Lowerer& l, std::string_view op);

/// The lowering of an operator, or nullptr. One of these for each family.
using Rule = void (*)(Lowerer&);
Rule element_rule(std::string_view op);
Rule function_rule(std::string_view op);
Rule integer_rule(std::string_view op);
Rule region_rule(std::string_view op);
Rule movement_rule(std::string_view op);
Rule product_rule(std::string_view op);
Rule reduction_rule(std::string_view op);
Rule indexed_rule(std::string_view op);
Rule control_rule(std::string_view op);
Rule collective_rule(std::string_view op);
Rule custom_rule(std::string_view op);

}  // namespace trnsim::frontend
