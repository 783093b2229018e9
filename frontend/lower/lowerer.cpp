#include "frontend/lower/lowerer.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <bit>
#include <limits>

#include "base/error.h"
#include "base/text.h"
#include "frontend/hlo/attrs_text.h"
#include "frontend/lower/order.h"
#include "frontend/lower/overlap.h"
#include "frontend/ops/contract.h"
#include "frontend/ops/operator.h"
#include "frontend/rewrite/compose.h"
#include "runtime/ops/ops.h"

namespace trnsim::frontend {
namespace {

using base::Error;
using base::Fault;

constexpr int kDeepest = 200;  // functions that call each other
constexpr std::size_t kMostCalls = 50'000'000;

struct TypeRow {
  Element element;
  Dtype dtype;
};
// 64 bits are 32 on the device: neuronx-cc computes f64 in fp32 and takes 64-bit integers as far as 32 bits hold them.
constexpr std::array kTypeRows = {
    TypeRow{Element::kI1, Dtype::kUint8},       TypeRow{Element::kI2, Dtype::kInt8},
    TypeRow{Element::kI4, Dtype::kInt8},        TypeRow{Element::kI8, Dtype::kInt8},
    TypeRow{Element::kI16, Dtype::kInt16},      TypeRow{Element::kI32, Dtype::kInt32},
    TypeRow{Element::kI64, Dtype::kInt32},      TypeRow{Element::kU2, Dtype::kUint8},
    TypeRow{Element::kU4, Dtype::kUint8},       TypeRow{Element::kU8, Dtype::kUint8},
    TypeRow{Element::kU16, Dtype::kUint16},     TypeRow{Element::kU32, Dtype::kUint32},
    TypeRow{Element::kU64, Dtype::kUint32},     TypeRow{Element::kF8E3M4, Dtype::kFp8E3m4},
    TypeRow{Element::kF8E4M3, Dtype::kFp8E4m3}, TypeRow{Element::kF8E4M3FN, Dtype::kFp8E4m3},
    TypeRow{Element::kF8E5M2, Dtype::kFp8E5m2}, TypeRow{Element::kBf16, Dtype::kBf16},
    TypeRow{Element::kF16, Dtype::kFp16},       TypeRow{Element::kF32, Dtype::kFp32},
    TypeRow{Element::kF64, Dtype::kFp32},
};

std::vector<std::size_t> last_uses(const Function& function) {
  std::vector<std::size_t> out(function.values.size());
  for (std::size_t n = 0; n < function.nodes.size(); ++n) {
    for (const ValueId v : function.nodes[n].operands) out[v] = n;
    for (const Region& region : function.nodes[n].regions)
      for (const ValueId v : region.captures) out[v] = n;
  }
  for (const ValueId v : function.results) out[v] = function.nodes.size();
  return out;
}

Rule rule_of(std::string_view op) {
  for (const auto family : {element_rule, function_rule, integer_rule, movement_rule, product_rule, reduction_rule,
                            indexed_rule, control_rule, collective_rule, custom_rule, region_rule})
    if (const Rule rule = family(op)) return rule;
  return nullptr;
}

runtime::Numerics numerics_of(const Module& module, const LowerOptions& options) {
  const std::string name = own_attribute(module, hlo::kNumericsKey);
  runtime::Numerics out = runtime::numerics(name.empty() ? "fp32" : name);
  if (!name.empty()) return out;
  if (options.operand) out.operand = *options.operand;
  return out;
}

}  // namespace

std::pair<std::int64_t, std::int64_t> matrix_form(const Dims& dims) {
  if (dims.empty()) return {1, 1};
  std::int64_t rows = 1;
  for (std::size_t d = 0; d + 1 < dims.size(); ++d) rows *= dims[d];
  return {rows, dims.back()};
}

std::string own_attribute(const Module& module, std::string_view key) {
  const auto found = module.extras.find(std::string{key});
  return found == module.extras.end() ? "" : found->second;
}

Dtype device_type(Element element, const std::string& where) {
  const auto found = std::ranges::find(kTypeRows, element, &TypeRow::element);
  if (found != kTypeRows.end()) return found->dtype;
  const bool fnuz = info(element).hlo.find("fnuz") != std::string_view::npos;
  const char* code = is_complex(element) ? "EVRF004: " : fnuz ? "EVRF005: " : "";
  throw Error{Fault::kProgram, where, fmt::format("{}the device has no {}", code, info(element).hlo),
              is_complex(element) ? "keep real and imaginary parts as two tensors" : "use a type that it has"};
}

Lowerer::Lowerer(const Module& module, const LowerOptions& options)
    : module_{module}, options_{options}, out_{.graph = runtime::Graph{numerics_of(module, options)}} {
  out_.ranks = std::max(module.replicas, std::int64_t{1}) * std::max(module.partitions, std::int64_t{1});
  own_ = !own_attribute(module, hlo::kNumericsKey).empty();
  if (own_) groups_ = hlo::groups_from(own_attribute(module, hlo::kGroupsKey), module.file);
  for (const auto& groups : groups_)
    for (const auto& group : groups)
      for (const std::uint32_t r : group) out_.ranks = std::max(out_.ranks, std::int64_t{r} + 1);
}

/// No core has memory for more.
void Lowerer::require_sizes() const {
  constexpr std::int64_t kMostElements = std::int64_t{1} << 37;
  for (const Function& f : module_.functions)
    for (const Node& node : f.nodes)
      for (std::uint32_t i = 0; i < node.results; ++i)
        if (const Type& type = f.type(node.result(i)); type.is_tensor() && element_count(type.dims) > kMostElements)
          throw Error{Fault::kCapacity, module_.where(node),
                      fmt::format("EOOM001: {} has {:.3g} elements, more than a core can hold", hlo_text(type),
                                  static_cast<double>(element_count(type.dims))),
                      "share it between cores"};
}

LoweredGraph Lowerer::run() {
  require_sizes();
  for (const Function& f : module_.functions) last_uses_.emplace(&f, last_uses(f));
  graph().enter({.name = "graph", .phase = isa::Phase::kForward});
  const Function& entry = module_.entry_function();
  std::vector<View> arguments;
  parameters(entry, arguments);
  const std::vector<View> values = called(entry, std::move(arguments));
  results(values);
  if (graph().node_count() == 0)  // nothing is computed: a program has an operation all the same
    graph().output(add(runtime::kRamp, {}, runtime::RampAttrs{}), "nothing");
  graph().set_replica_groups(std::move(groups_));
  return std::move(out_);
}

std::string Lowerer::where() const { return node_ ? module_.where(*node_) : module_.file; }

void Lowerer::refuse(std::string_view what, std::string_view fix) const {
  throw Error{Fault::kProgram, where(), fmt::format("{}: {}", node_->op->name, what), fix};
}

void Lowerer::only_timed(std::string_view why) {
  constexpr std::size_t kMost = 200;
  if (out_.timed_only.size() < kMost)
    out_.timed_only.push_back(fmt::format("{}: {}: {}", where(), node_->op->name, why));
}

/// Whether the view is all that a product has made: no other value has its memory.
bool Lowerer::is_own_result(const View& view) const {
  const runtime::Value& value = out_.graph.value(view.base);
  if (value.producer == runtime::kNoNode || value.alias != runtime::kNoValue || value.elements() != view.count())
    return false;
  const runtime::Op* by = out_.graph.node(value.producer).op;
  return by->matmul_flops && !by->looks_on;
}

bool Lowerer::may_write(std::size_t i) const {
  const View& view = in(i);
  if (view.is_number() || !is_dense(view) || view.first != 0) return false;
  if (!owned_.contains(view.base) && !donated_.contains(view.base) && !is_own_result(view)) return false;
  const runtime::ValueId root = out_.graph.root(view.base), own = node_->operands[i];
  if (std::ranges::count(node_->operands, own) != 1 || std::ranges::find(pinned_, root) != pinned_.end()) return false;
  for (const Frame* frame = frame_; frame; frame = frame->caller)
    for (ValueId v = 0; v < frame->values.size(); ++v) {
      const View& other = frame->values[v];
      const bool same = frame == frame_ && v == own;
      const bool read_later = frame->last_use[v] > frame->at || (frame == frame_ && frame->last_use[v] == frame->at);
      if ((same ? frame->last_use[v] > frame->at : read_later) && !other.is_number() &&
          out_.graph.root(other.base) == root)
        return false;
    }
  return true;
}

double Lowerer::constant_bound(runtime::ValueId value) const {
  const auto found = constant_bounds_.find(value);
  return found == constant_bounds_.end() ? std::numeric_limits<double>::infinity() : found->second;
}

View Lowerer::to_write(std::size_t i) { return may_write(i) ? in(i) : owned_copy(in(i)); }

/// The scope that the node had in the graph that was written.
void Lowerer::begin_own_scope() {
  if (!own_ || !node_) return;
  const Metadata& metadata = module_.metadata_of(*node_);
  if (!metadata.op_name.empty()) graph().enter(hlo::scope_from(metadata.op_name, where()));
}

/// Whether an operation computes, row by row, of the rows that the present call has just made: the compiler takes both
/// row tile by row tile, without a way through HBM.
bool Lowerer::joins(const runtime::Op& op, const std::vector<runtime::ValueId>& in) const {
  if (!(op.lower_columns || op.lower_rows) || in.empty()) return false;
  const runtime::Graph& g = out_.graph;
  return std::ranges::any_of(in, [&](runtime::ValueId v) {
    const runtime::NodeId by = g.value(v).producer;
    return by != runtime::kNoNode && g.node(by).scope == g.current_scope() && !g.node(by).op->lower_whole &&
           g.value(v).rows == g.value(in[0]).rows;
  });
}

void Lowerer::begin_work(double tiles, bool joins) {
  if (own_) return;
  if (work_ + tiles > (joins && work_ <= kMostJoined ? kMostJoined : kMostWork) && work_ > 0) {
    ++calls_;
    graph().enter({.name = "graph", .instance = static_cast<std::int32_t>(calls_), .phase = isa::Phase::kForward});
    work_ = 0;
    uses_.clear();
  }
  work_ += tiles;
}

/// Whether the present call has the memory of an operand under another name, and one of the two is written: the order
/// of two names' accesses is that of their calls.
bool Lowerer::other_names(const std::vector<runtime::ValueId>& in, bool writes) const {
  for (std::size_t i = 0; i < in.size(); ++i) {
    const auto found = uses_.find(out_.graph.root(in[i]));
    if (found == uses_.end()) continue;
    for (const auto& [name, written] : found->second)
      if (name != out_.graph.base(in[i]) && (written || (writes && i == 0))) return true;
  }
  return false;
}

void Lowerer::note_uses(const std::vector<runtime::ValueId>& in, bool writes) {
  for (std::size_t i = 0; i < in.size(); ++i) uses_[graph().root(in[i])][graph().base(in[i])] |= writes && i == 0;
}

bool Lowerer::writes_first(const runtime::Op& op, const std::vector<runtime::ValueId>& in,
                           const runtime::Attrs& attrs) const {
  if (op.looks_on || in.empty()) return false;
  const runtime::Node node{.op = &op, .attrs = attrs.empty() ? op.attrs : attrs, .in = in, .out = {}, .label = {}};
  return std::ranges::any_of(op.infer({out_.graph, node}),
                             [&](const runtime::Shape& shape) { return shape.alias == in[0]; });
}

runtime::ValueId Lowerer::add(const runtime::Op& op, std::vector<runtime::ValueId> in, runtime::Attrs attrs) {
  return add_all(op, std::move(in), std::move(attrs)).front();
}

/// The name under which an operation is counted, a custom call's being that of its target, and its place in the user's
/// program, as isa::Block::labels has both.
std::string Lowerer::label() const {
  if (!node_) return "output";
  const Metadata& from = module_.metadata_of(*node_);
  if (own_ && !from.op_type.empty()) return from.op_type;
  std::string name{node_->op->name};
  if (name == "custom_call") {
    const std::string target = node_->attributes.text("call_target_name");
    name = target.substr(target.rfind('.') + 1);
  }
  if (!from.source_file.empty()) return fmt::format("{} at {}:{}", name, from.source_file, from.source_line);
  return from.op_name.empty() ? name : fmt::format("{} at {}", name, from.op_name);
}

std::vector<runtime::ValueId> Lowerer::add_all(const runtime::Op& op, std::vector<runtime::ValueId> in,
                                               runtime::Attrs attrs) {
  double tiles = 1;  // of the operands that are taken row by row
  for (std::size_t i = 0; i < in.size(); ++i)
    if (!op.not_by_row.contains(i)) tiles = std::max(tiles, static_cast<double>(graph().value(in[i]).rows) / 128);
  const bool alone = op.collective != runtime::Collective::kNone;
  const bool writes = writes_first(op, in, attrs);
  if (alone || (!op.looks_on && other_names(in, writes))) cut();
  begin_work(tiles, joins(op, in));
  if (!op.looks_on) note_uses(in, writes);
  std::vector<runtime::ValueId> out = graph().add(op, label(), std::move(in), std::move(attrs));
  if (!op.looks_on)
    for (const runtime::ValueId v : out) uses_[graph().root(v)][graph().base(v)] = true;
  const runtime::Node& made = graph().node(graph().node_count() - 1);
  if (op.pieces) work_ += op.pieces(made);
  if (alone) cut();
  return out;
}

/// Results without elements need no work, whatever makes them. Returns whether all are so.
bool Lowerer::without_elements() {
  for (std::uint32_t i = 0; i < node_->results; ++i)
    if (!type_out(i).is_tensor() || element_count(type_out(i).dims) > 0) return false;
  for (std::uint32_t i = 0; i < node_->results; ++i) set(number_view(0, type_out(i).dims, dtype_out(i)), i);
  return node_->results > 0;
}

void Lowerer::lower_node(const Node& node, std::size_t number) {
  node_ = &node;
  frame_->at = number;
  if (++out_.operations > options_.most_operations && !own_)
    refuse(fmt::format("is one of more than {} operations, with all calls and loops", options_.most_operations),
           "use fewer and larger operations");
  begin_own_scope();
  if (node.apart) cut();
  if (!node.op->code.empty())
    refuse(fmt::format("{}: neuronx-cc refuses it", node.op->code), "build it from operators that it accepts");
  if (node.op->product_flops) out_.flops += node.op->product_flops(Contract{module_, frame_->function, node});
  if (without_elements()) return;
  const Rule rule = rule_of(node.op->name);
  if (!rule)
    refuse("has no lowering", "build it from other operators: docs/frontend.md counts the programs that run on a core");
  rule(*this);
}

std::vector<View> Lowerer::called(const Function& function, std::vector<View> arguments) {
  if (++depth_ > kDeepest) refuse("more than 200 functions call each other", "flatten them");
  Frame* const outer_frame = frame_;
  const Node* const outer_node = node_;
  std::vector<std::size_t> own;  // of a function that was made for this call
  const auto known = last_uses_.find(&function);
  if (known == last_uses_.end()) own = last_uses(function);
  Frame frame{function, std::move(arguments), known == last_uses_.end() ? own : known->second, frame_};
  frame.values.resize(function.values.size());
  frame_ = &frame;
  for (std::size_t n = 0; n < function.nodes.size(); ++n) lower_node(function.nodes[n], n);
  std::vector<View> out;
  for (const ValueId v : function.results) out.push_back(frame.values[v]);
  frame_ = outer_frame, node_ = outer_node;
  --depth_;
  return out;
}

const Node* Lowerer::producer(ValueId value) {
  if (!frame_->producers) frame_->producers.emplace(frame_->function);
  return frame_->producers->of(value);
}

std::uint8_t Lowerer::group_of(const IntTable& table) {
  std::vector<std::vector<std::uint32_t>> groups;
  for (std::int64_t r = 0; r < table.rows(); ++r) {
    groups.emplace_back();
    for (std::int64_t c = 0; c < table.columns; ++c)
      if (table.at(r, c) >= 0) groups.back().push_back(static_cast<std::uint32_t>(table.at(r, c)));
  }
  if (groups.empty()) {
    groups.emplace_back();
    for (std::uint32_t r = 0; r < static_cast<std::uint32_t>(out_.ranks); ++r) groups.back().push_back(r);
  }
  std::int64_t most = 0;
  for (const auto& group : groups)
    for (const std::uint32_t r : group) most = std::max(most, std::int64_t{r} + 1);
  out_.ranks = std::max(out_.ranks, most);
  const auto found = std::ranges::find(groups_, groups);
  const auto place = static_cast<std::size_t>(found - groups_.begin());
  if (found == groups_.end()) groups_.push_back(std::move(groups));
  if (place > 255) refuse("has more than 256 sets of replica groups", "use fewer");
  return static_cast<std::uint8_t>(place);
}

Lowerable lowerable(const Module& module, const LowerOptions& options) {
  const bool own = !own_attribute(module, hlo::kNumericsKey).empty();  // its operations are fused already
  if (own) return {.module = module};
  Lowerable out;
  out.module = rewritten(module, switched(module, options.rewrites), &out.rewrites);
  compose(out.module, options.computed);
  order_for_memory(out.module);
  overlap_collectives(out.module);
  return out;
}

LoweredGraph lower(const Lowerable& program, const LowerOptions& options) {
  LoweredGraph out = Lowerer{program.module, options}.run();
  out.rewrites = program.rewrites;
  return out;
}

LoweredGraph lower(const Module& module, const LowerOptions& options) {
  return lower(lowerable(module, options), options);
}

}  // namespace trnsim::frontend
