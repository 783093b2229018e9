// Parameters and results of a program: tensors of the device, and memory that a result takes over.
#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <set>

#include "base/text.h"
#include "frontend/hlo/attrs_text.h"
#include "frontend/lower/lowerer.h"
#include "runtime/ops/ops.h"

namespace trnsim::frontend {

namespace {

/// The parameters that no run changes, as an attribute of the module names them: "0 2 3".
std::set<std::uint32_t> constants_of(const Module& module, std::uint32_t parameters) {
  constexpr const char* kConstants = "trnsim.constants";
  std::set<std::uint32_t> out;
  for (const std::string& word : base::split(own_attribute(module, kConstants), ' ')) {
    if (word.empty()) continue;
    std::uint32_t number = 0;
    const auto [end, problem] = std::from_chars(word.data(), word.data() + word.size(), number);
    if (problem != std::errc{} || end != word.data() + word.size() || number >= parameters)
      throw base::Error{base::Fault::kProgram, module.file,
                        fmt::format("{} does not name a parameter: '{}'", kConstants, word),
                        "give numbers of parameters, with blanks between"};
    out.insert(number);
  }
  return out;
}

}  // namespace

void Lowerer::parameters(const Function& entry, std::vector<View>& out) {
  const std::set<std::uint32_t> constants = constants_of(module_, static_cast<std::uint32_t>(entry.parameters));
  const std::string own_kinds = own_attribute(module_, hlo::kKindsKey);
  const std::vector<std::string> kinds = own_kinds.empty() ? std::vector<std::string>{} : base::split(own_kinds, ';');
  for (std::uint32_t p = 0; p < entry.parameters; ++p) {
    const Type& type = entry.values[p];
    if (type.is_token()) {
      out.push_back(number_view(0, {}, Dtype::kUint8));
      parameters_.push_back(runtime::kNoValue), out_.inputs.push_back({});
      continue;
    }
    const Dtype dtype = device_type(type.element, fmt::format("{}, parameter {}", module_.file, p));
    if (element_count(type.dims) == 0) {
      out.push_back(number_view(0, type.dims, dtype));
      parameters_.push_back(runtime::kNoValue), out_.inputs.push_back({.name = "", .type = type});
      continue;
    }
    const bool donated = std::ranges::any_of(module_.aliases, [&](const Alias& a) { return a.parameter == p; });
    const auto [rows, cols] = matrix_form(type.dims);
    std::string name = fmt::format("parameter.{}", p);
    const bool real = is_float(type.element);
    runtime::Kind kind = donated || (real && rows > 1) ? runtime::Kind::kWeight : runtime::Kind::kInput;
    const std::vector<std::string> own = p < kinds.size() ? base::split(kinds[p], '|') : std::vector<std::string>{};
    if (own.size() == 3) name = own[0], kind = static_cast<runtime::Kind>(own[1].front() - '0');
    const auto v = graph().tensor(name, rows, cols, dtype, kind);
    if (own.size() == 3 && own[2] == "1") graph().freeze(v);
    if (constants.contains(p) && !donated) graph().hold_constant(v);
    if (donated) donated_.insert(v);
    parameters_.push_back(v);
    out_.inputs.push_back({.name = name, .type = type});
    out.push_back(dense_view(v, type.dims, dtype));
  }
}

namespace {

/// Nodes that read a value's memory, through views too.
void readers_of(const runtime::Graph& graph, runtime::ValueId v, std::set<runtime::NodeId>& out) {
  for (const runtime::NodeId n : graph.users(v)) {
    bool view = false;
    for (const runtime::ValueId o : graph.node(n).out) {
      if (graph.root(o) != graph.root(v)) continue;
      view = true;
      readers_of(graph, o, out);
    }
    if (!view) out.insert(n);
  }
}

/// Whether `by` and the nodes of its call that it depends on are all that read `v` in that call, and no later call
/// does.
bool reads_end_with(const runtime::Graph& graph, runtime::ValueId v, runtime::NodeId by) {
  std::set<runtime::NodeId> readers, before{by};
  readers_of(graph, v, readers);
  const std::uint32_t scope = graph.node(by).scope;
  std::vector<runtime::NodeId> open{by};
  while (!open.empty()) {
    const runtime::NodeId n = open.back();
    open.pop_back();
    for (const runtime::ValueId in : graph.node(n).in) {
      const runtime::NodeId from = graph.value(in).producer;
      if (from != runtime::kNoNode && graph.node(from).scope == scope && before.insert(from).second)
        open.push_back(from);
    }
  }
  return std::ranges::all_of(
      readers, [&](runtime::NodeId n) { return graph.node(n).scope == scope ? before.contains(n) : n < by; });
}

/// The value whose memory is all of `v`'s: its own, or that of the first node of those that write it in place.
runtime::ValueId whole_memory(const runtime::Graph& graph, runtime::ValueId v) {
  const runtime::ValueId root = graph.root(v);
  return graph.begin(v) == 0 && graph.value(root).bytes() == graph.value(v).bytes() ? root : v;
}

/// Whether a node's result can be made in the memory of `into`: nothing reads that in the node's call or later.
bool is_free_for(const runtime::Graph& graph, runtime::ValueId from, runtime::ValueId into) {
  const runtime::Value &made = graph.value(from), &place = graph.value(into);
  if (made.producer == runtime::kNoNode || made.alias != runtime::kNoValue) return false;
  const runtime::Node& by = graph.node(made.producer);
  const bool simple = by.op->collective == runtime::Collective::kNone && !by.op->looks_on;
  if (!simple || made.kind != runtime::Kind::kActivation || made.dtype != place.dtype || made.bytes() != place.bytes())
    return false;
  std::set<runtime::NodeId> readers;
  readers_of(graph, into, readers);
  return std::ranges::all_of(readers,
                             [&](runtime::NodeId n) { return n < made.producer && graph.node(n).scope != by.scope; });
}

/// A vector that stays as it was made, on all partitions: as a matrix of one row it would be copied by one of them.
bool is_whole_vector(const runtime::Graph& graph, const View& view) {
  const runtime::Value& base = graph.value(view.base);
  return view.dims.size() == 1 && view.first == 0 && is_dense(view) && base.cols > 1 && base.elements() == view.count();
}

}  // namespace

/// Where it is computed, if all have read its place and its call takes further operations: a collective's has itself
/// alone. Else at the end of the program.
void Lowerer::assign(runtime::ValueId from, runtime::ValueId into) {
  if (const runtime::ValueId memory = whole_memory(graph(), from); is_free_for(graph(), memory, into)) {
    graph().live_in(memory, into);
    return graph().set_kind(from, graph().value(into).kind);
  }
  const runtime::NodeId by = graph().value(from).producer;
  const std::uint32_t now = graph().current_scope();
  const bool joins = by != runtime::kNoNode && graph().node(by).op->collective == runtime::Collective::kNone;
  if (joins && reads_end_with(graph(), into, by))
    graph().return_to(graph().node(by).scope);
  else
    graph().enter({.name = "update", .phase = isa::Phase::kOptimizer});
  const runtime::Value& made = graph().value(from);
  const bool same = made.rows == graph().value(into).rows;
  const runtime::ValueId place =
      same ? into : add(runtime::kView, {into}, runtime::ViewAttrs{.rows = made.rows, .cols = made.cols});
  graph().add(runtime::kAssign, "output", {from, place});
  graph().return_to(now);
}

/// All are computed before the first parameter is overwritten: another result may be a parameter as it was.
void Lowerer::results(const std::vector<View>& values) {
  const Function& entry = module_.entry_function();
  std::vector<runtime::ValueId> from(values.size(), runtime::kNoValue), into(values.size(), runtime::kNoValue);
  for (std::size_t i = 0; i < values.size(); ++i) {
    const View& view = values[i];
    if (entry.type(entry.results[i]).is_token() || view.count() == 0) continue;
    const auto alias = std::ranges::find_if(module_.aliases, [&](const Alias& a) {
      return a.output_index == Ints{static_cast<std::int64_t>(i)} || (a.output_index.empty() && values.size() == 1);
    });
    if (alias != module_.aliases.end()) into[i] = parameters_.at(static_cast<std::size_t>(alias->parameter));
    from[i] = is_whole_vector(graph(), view) ? view.base : matrix(view);
    const runtime::ValueId root = graph().root(from[i]);
    if (root == into[i] && graph().begin(from[i]) == 0) {  // it is there already
      from[i] = into[i];
      continue;
    }
    const bool passes = std::ranges::find(parameters_, root) != parameters_.end();
    if (passes) from[i] = matrix(owned_copy(view));
  }
  for (std::size_t i = 0; i < values.size(); ++i) {
    const Type& type = entry.type(entry.results[i]);
    if (from[i] == runtime::kNoValue) {
      out_.outputs.push_back({.name = "", .type = type});
    } else if (into[i] != runtime::kNoValue) {
      if (from[i] != into[i]) assign(from[i], into[i]);
      out_.outputs.push_back({.name = graph().value(into[i]).name, .type = type});
    } else {
      const std::string name = fmt::format("output.{}", i);
      const runtime::Attrs copy =
          runtime::ElementAttrs{.form = runtime::ElementForm::kFunction, .dtype = values[i].dtype};
      const runtime::Value& made = graph().value(from[i]);
      const bool is_new = made.producer != runtime::kNoNode && made.alias == runtime::kNoValue &&
                          made.kind == runtime::Kind::kActivation;
      graph().output(is_new ? from[i] : add(runtime::kElement, {from[i]}, copy), name);
      out_.outputs.push_back({.name = name, .type = type});
    }
  }
}

}  // namespace trnsim::frontend
