#include "frontend/hlo/graph.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <map>

#include "base/error.h"
#include "frontend/graph/grid.h"
#include "frontend/hlo/attributes.h"
#include "frontend/hlo/exchange.h"
#include "frontend/hlo/graph_attributes.h"
#include "frontend/ops/operator.h"
#include "frontend/rewrite/compose.h"

namespace trnsim::frontend::hlo {
namespace {

using base::Error;
using base::Fault;
using std::string_view;

constexpr std::size_t kMostNodes = 20'000'000;  // called computations are repeated where they are called
constexpr int kDeepestCall = 500;

/// A value of the graph, or the parts of a tuple.
struct Tree {
  ValueId value = 0;
  bool tuple = false;
  std::vector<Tree> parts{};
};

void flatten(const Tree& tree, std::vector<ValueId>& out) {
  if (!tree.tuple) return out.push_back(tree.value);
  for (const Tree& part : tree.parts) flatten(part, out);
}

void flatten(const Shape& shape, std::vector<Type>& out) {
  if (shape.element == Element::kTuple) {
    for (const Shape& part : shape.elements) flatten(part, out);
    return;
  }
  if (shape.element == Element::kToken) return out.push_back(token_type());
  Type type = tensor_type(shape.element, shape.dims);
  if (shape.layout) type.layout = shape.layout->minor_to_major;
  out.push_back(std::move(type));
}

std::vector<Type> types_of(const Shape& shape) {
  std::vector<Type> out;
  flatten(shape, out);
  return out;
}

/// The values of a shape's parts, in their order from `next` on.
Tree tree_of(const Shape& shape, const std::vector<ValueId>& values, std::size_t& next) {
  if (shape.element != Element::kTuple) return {.value = values.at(next++)};
  Tree out{.tuple = true};
  for (const Shape& part : shape.elements) out.parts.push_back(tree_of(part, values, next));
  return out;
}

Tree tree_of(const Shape& shape, const std::vector<ValueId>& values) {
  std::size_t next = 0;
  return tree_of(shape, values, next);
}

/// Opcodes whose result is their operand: they move, order, or mark values, or set a size that it has.
bool is_identity(const Computation& computation, const Instruction& one) {
  if (one.opcode == "set-dimension-size") return keeps_size(computation, one);
  constexpr std::array<string_view, 4> kNames{"copy", "copy-start", "domain", "add-dependency"};
  if (std::ranges::find(kNames, one.opcode) != kNames.end()) return true;
  const bool ends = one.opcode.ends_with("-done") || one.opcode.ends_with("-update");
  if (ends && one.opcode != "send-done" && one.opcode != "recv-done") return true;  // the operation of its operand
  const string_view target = text_of(one, "custom_call_target");
  return one.opcode == "custom-call" && one.operands.size() == 1 &&
         (target == "Sharding" || target == "SPMDFullToShardShape" || target == "SPMDShardToFullShape" ||
          target == "LayoutConstraint");
}

/// The place of a part among all of a shape's.
std::optional<std::int64_t> flat_index(const Shape& shape, const Ints& index) {
  const Shape* at = &shape;
  std::int64_t before = 0;
  for (const std::int64_t i : index) {
    if (at->element != Element::kTuple || i < 0 || static_cast<std::size_t>(i) >= at->elements.size()) return {};
    for (std::int64_t k = 0; k < i; ++k)
      before += static_cast<std::int64_t>(types_of(at->elements[static_cast<std::size_t>(k)]).size());
    at = &at->elements[static_cast<std::size_t>(i)];
  }
  return before;
}

/// Where an instruction is: the nodes and values made so far.
struct Place {
  Builder& builder;
  const Computation& computation;
  const std::vector<Tree>& values;
  int depth;
};

Tree tuple(const Place& place, const Instruction& one) {
  Tree out{.tuple = true};
  for (const std::uint32_t operand : one.operands) out.parts.push_back(place.values[operand]);
  return out;
}

LiteralPtr literal(const Instruction& one) {
  frontend::Literal out{.type = types_of(one.shape).at(0), .bytes = {}};
  const std::string zero(stored_bytes(one.shape.element), '\0');
  const std::string& bytes = one.literal->elided ? zero : one.literal->bytes;
  const auto* begin = reinterpret_cast<const std::byte*>(bytes.data());
  out.bytes.assign(begin, begin + bytes.size());
  out.splat = one.literal->elided;
  return std::make_shared<const frontend::Literal>(std::move(out));
}

/// The attributes of a node. An exchange without groups is one of all replicas, or behind a channel of all partitions.
Attributes attributes_of(const Instruction& one, const Shape* operand, const frontend::Module& program) {
  Attributes out;
  set_attributes(one, operand, out);
  if (begun_opcode(one.opcode) == "all-to-all" && out.integer("split_count") == 0)
    out.set("split_count", out.integer("channel_id") > 0 ? program.partitions : program.replicas);
  return out;
}

class GraphMaker {
 public:
  GraphMaker(const Module& source, const std::string& file) : source_{source} {
    out_.name = source.name;
    out_.file = file;
    out_.replicas = std::max<std::int64_t>(source.replicas, 1);
    out_.partitions = std::max<std::int64_t>(source.partitions, 1);
  }

  frontend::Module make() {
    const Computation& entry = source_.computations[source_.entry];
    const FunctionId main = add_function(out_, entry.name);
    out_.entry = main;
    Builder builder{out_, main};
    const Tree result = inlined(builder, entry, parameters(builder, entry), 0);
    std::vector<ValueId> results;
    flatten(result, results);
    builder.returns(results);
    for (const auto& [name, value] : source_.frontend) out_.extras[name] = value;
    aliases(entry);
    settle_grid(out_);
    verify(out_);
    return std::move(out_);
  }

 private:
  [[noreturn]] void fail(const Instruction& at, string_view what, string_view fix) const {
    throw Error{Fault::kProgram, where(at), what, fix};
  }
  std::string where(const Instruction& at) const {
    return at.line > 0 ? fmt::format("{}:{}: {}", out_.file, at.line, at.name)
                       : fmt::format("{}, node {}", out_.file, at.name);
  }

  /// The parameters' shapes by number.
  std::vector<const Shape*> parameter_shapes(const Computation& computation) const {
    std::vector<const Shape*> shapes;
    for (const Instruction& one : computation.instructions) {
      if (one.opcode != "parameter") continue;
      const auto number = static_cast<std::size_t>(int_of(one, "parameter_number"));
      if (number >= computation.instructions.size()) fail(one, "has no such parameter number", "count from 0");
      if (shapes.size() <= number) shapes.resize(number + 1);
      shapes[number] = &one.shape;
    }
    for (const Shape* shape : shapes)
      if (!shape)
        throw Error{Fault::kProgram, fmt::format("{}: {}", out_.file, computation.name), "lacks a parameter",
                    "number parameters 0, 1, 2, ..."};
    return shapes;
  }

  std::vector<Tree> parameters(Builder& builder, const Computation& computation) const {
    std::vector<Tree> out;
    for (const Shape* shape : parameter_shapes(computation)) {
      std::vector<ValueId> values;
      for (Type& type : types_of(*shape)) values.push_back(builder.parameter(std::move(type)));
      out.push_back(tree_of(*shape, values));
    }
    return out;
  }

  /// Outputs and parameters are numbered without tuples in the graph.
  void aliases(const Computation& entry) {
    const Shape& result = entry.instructions[entry.root].shape;
    const std::vector<const Shape*> shapes = parameter_shapes(entry);
    for (const Aliasing& alias : source_.aliases) {
      const bool known = alias.operand >= 0 && static_cast<std::size_t>(alias.operand) < shapes.size();
      const auto output = flat_index(result, alias.output);
      const auto inside =
          known ? flat_index(*shapes[static_cast<std::size_t>(alias.operand)], alias.operand_index) : std::nullopt;
      if (!output || !inside)
        throw Error{Fault::kProgram, out_.file, "input_output_alias names an output or a parameter that does not exist",
                    "write the module again"};
      std::int64_t before = 0;
      for (std::int64_t p = 0; p < alias.operand; ++p)
        before += static_cast<std::int64_t>(types_of(*shapes[static_cast<std::size_t>(p)]).size());
      out_.aliases.push_back({.output_index = {*output}, .parameter = before + *inside, .parameter_index = {}});
    }
  }

  /// The computation's nodes in `builder`'s function, on these arguments.
  Tree inlined(Builder& builder, const Computation& computation, const std::vector<Tree>& arguments, int depth) {
    const Instruction& root = computation.instructions[computation.root];
    if (depth > kDeepestCall) fail(root, "more than 500 computations call each other", "flatten them");
    std::vector<Tree> values;
    values.reserve(computation.instructions.size());
    for (const Instruction& one : computation.instructions)
      values.push_back(made(builder, computation, one, values, arguments, depth));
    return std::move(values[computation.root]);
  }

  Tree made(Builder& builder, const Computation& computation, const Instruction& one, const std::vector<Tree>& values,
            const std::vector<Tree>& arguments, int depth) {
    const Place place{builder, computation, values, depth};
    const string_view opcode = one.opcode;
    if (opcode == "parameter") {
      const auto number = static_cast<std::size_t>(int_of(one, "parameter_number"));
      if (number >= arguments.size()) fail(one, "the caller passes fewer arguments", "give each parameter one");
      return arguments[number];
    }
    if (opcode == "tuple") return tuple(place, one);
    if (opcode == "get-tuple-element") return element(place, one);
    if (is_identity(computation, one)) {
      if (one.operands.empty()) fail(one, "has no operand", "give it one");
      if (text_of(one, "custom_call_target") == "Sharding") out_.undivided = true;  // a partitioner leaves none
      return values[one.operands[0]];
    }
    if (opcode == "opt-barrier") return of_operands(place, one, "optimization_barrier");
    const string_view begun = begun_opcode(opcode);
    if (begun == "call" || begun == "fusion" || begun == "async") return called(place, one);
    if (opcode == "while") return loop(place, one);
    if (opcode == "conditional") return branches(place, one);
    return operation(place, one);
  }

  Tree element(const Place& place, const Instruction& one) const {
    const auto index = static_cast<std::size_t>(int_of(one, "index"));
    if (one.operands.size() != 1 || !place.values[one.operands[0]].tuple ||
        index >= place.values[one.operands[0]].parts.size())
      fail(one, "its operand is not a tuple with such an element", "name an element that the tuple has");
    return place.values[one.operands[0]].parts[index];
  }

  const Computation& callee(const Instruction& one, std::size_t i, std::size_t count) const {
    if (one.called.size() != count)
      fail(one, fmt::format("names {} computations", one.called.size()), fmt::format("name {}", count));
    return source_.computations[one.called[i]];
  }

  Tree called(const Place& place, const Instruction& one) {
    const Computation& computation = callee(one, 0, 1);
    std::vector<Tree> arguments;
    for (const std::uint32_t operand : one.operands) arguments.push_back(place.values[operand]);
    return inlined(place.builder, computation, arguments, place.depth + 1);
  }

  /// The region of a computation, of which each use gets the same function.
  Region region(std::uint32_t computation, int depth) {
    const auto found = regions_.find(computation);
    if (found != regions_.end()) return {.function = found->second, .captures = {}};
    const Computation& source = source_.computations[computation];
    const FunctionId function = add_function(out_, source.name, true);
    Builder builder{out_, function};
    const Tree result = inlined(builder, source, parameters(builder, source), depth + 1);
    std::vector<ValueId> results;
    flatten(result, results);
    builder.returns(results);
    regions_[computation] = function;
    return {.function = function, .captures = {}};
  }

  Tree loop(const Place& place, const Instruction& one) {
    callee(one, 0, 2);
    return of_operands(place, one, "while", {region(one.called[1], place.depth), region(one.called[0], place.depth)});
  }

  Tree of_operands(const Place& place, const Instruction& one, string_view op, std::vector<Region> regions = {}) {
    frontend::Node node = begun(one, op);
    for (const std::uint32_t operand : one.operands) flatten(place.values[operand], node.operands);
    node.regions = std::move(regions);
    return added(place.builder, std::move(node), one);
  }

  Tree branches(const Place& place, const Instruction& one) {
    if (one.operands.empty() || one.called.size() + 1 != one.operands.size())
      fail(one, "does not have one operand per branch and a selector", "give it one per branch and a selector");
    const bool by_truth = is_bool(place.computation.instructions[one.operands[0]].shape.element);
    frontend::Node node = begun(one, by_truth ? "if" : "case");
    node.operands = {place.values[one.operands[0]].value};
    for (std::size_t i = 0; i < one.called.size(); ++i) {
      Region branch = region(one.called[i], place.depth);
      flatten(place.values[one.operands[i + 1]], branch.captures);
      node.regions.push_back(std::move(branch));
    }
    return added(place.builder, std::move(node), one);
  }

  frontend::Node begun(const Instruction& one, string_view op) {
    frontend::Node node;
    node.op = find_operator(op);
    if (!node.op) fail(one, fmt::format("{} is not an operator of the graph", op), "use one of docs/frontend.md");
    node.name = one.name;
    node.line = one.line;
    node.metadata = metadata(one.metadata);
    return node;
  }

  Tree operation(const Place& place, const Instruction& one) {
    const std::string opcode{begun_opcode(one.opcode)};
    if (opcode == "all-to-all" && result_of(one).element == Element::kTuple && one.operands.size() > 1)
      return exchanged(place, one);
    string_view name = operator_of(opcode);
    const Operator* op = name.empty() ? find_hlo_operator(opcode) : find_operator(name);
    if (!op)
      fail(one, fmt::format("no operator has the opcode {}", opcode), "use an operator that docs/frontend.md lists");
    frontend::Node node = begun(one, op->name);
    const Shape* first = one.operands.empty() ? nullptr : &place.computation.instructions[one.operands[0]].shape;
    node.attributes = attributes_of(one, first, out_);
    if (one.literal) node.attributes.set("value", literal(one));
    for (const std::uint32_t operand : one.operands) flatten(place.values[operand], node.operands);
    for (const std::uint32_t computation : one.called) node.regions.push_back(region(computation, place.depth));
    return added(place.builder, std::move(node), one);
  }

  Tree added(Builder& builder, frontend::Node node, const Instruction& one) {
    if (++nodes_ > kMostNodes)
      fail(one, "the called computations unfold to more than 20 million nodes", "call them less often");
    const Shape& shape = result_of(one);
    const frontend::Node& added = builder.add(std::move(node), types_of(shape));
    std::vector<ValueId> values;
    for (std::uint32_t i = 0; i < added.results; ++i) values.push_back(added.result(i));
    return tree_of(shape, values);
  }

  Tree exchanged(const Place& place, const Instruction& one) {
    std::vector<ValueId> operands;
    for (const std::uint32_t operand : one.operands) flatten(place.values[operand], operands);
    const std::vector<ValueId> values = exchanged_parts(place.builder, std::move(operands), one);
    if (values.empty()) fail(one, "has operands of several types", "give tensors of one type");
    return tree_of(one.shape, values);
  }

  std::uint32_t metadata(const Metadata& from) {
    frontend::Metadata out{.op_name = from.op_name,
                           .op_type = from.op_type,
                           .source_file = from.file,
                           .source_line = static_cast<int>(from.line)};
    const StackFrames& frames = source_.frames;
    const auto at = [](const Rows& rows, std::int64_t i) {
      return i >= 1 && static_cast<std::size_t>(i) <= rows.size() ? &rows[static_cast<std::size_t>(i - 1)] : nullptr;
    };
    if (const Ints* frame = at(frames.frames, from.frame); frame && out.source_file.empty())
      if (const Ints* place = at(frames.locations, frame->at(0))) {
        const auto file = static_cast<std::size_t>(place->at(0));
        if (file >= 1 && file <= frames.files.size()) out.source_file = frames.files[file - 1];
        out.source_line = static_cast<int>(place->at(2));
      }
    if (out == frontend::Metadata{}) return 0;
    const auto [found, is_new] = metadata_.try_emplace(out, static_cast<std::uint32_t>(out_.metadata.size()));
    if (is_new) out_.metadata.push_back(std::move(out));
    return found->second;
  }

  const Module& source_;
  frontend::Module out_;
  std::map<std::uint32_t, FunctionId> regions_;
  std::map<frontend::Metadata, std::uint32_t> metadata_;
  std::size_t nodes_ = 0;
};

}  // namespace

frontend::Module graph_of(const Module& module, const std::string& file) {
  frontend::Module made = GraphMaker{module, file}.make();
  localize(made);
  compose_targets(made);
  return made;
}

}  // namespace trnsim::frontend::hlo
