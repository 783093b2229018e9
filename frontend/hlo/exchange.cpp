#include "frontend/hlo/exchange.h"

#include "frontend/hlo/graph_attributes.h"

namespace trnsim::frontend::hlo {

const Shape& result_of(const Instruction& instruction) {
  const std::vector<Shape>& parts = instruction.shape.elements;
  const bool wrapped =
      instruction.opcode.ends_with("-start") && parts.size() > 1 && parts[0].element == Element::kTuple;
  const bool beside = instruction.opcode == "all-gather-start" || instruction.opcode == "collective-permute-start";
  return (wrapped || beside) && parts.size() > 1 ? parts[1] : instruction.shape;
}

std::vector<ValueId> exchanged_parts(Builder& builder, std::vector<ValueId> operands, const Instruction& instruction) {
  const Type part = builder.function().type(operands.at(0));
  Dims row = part.dims;
  row.insert(row.begin(), 1);
  for (ValueId& v : operands) {
    if (!(builder.function().type(v) == part)) return {};
    v = builder.op("reshape", {v}, {}, {tensor_type(part.element, row)});
  }
  const auto count = static_cast<std::int64_t>(operands.size());
  Attributes joined, moved;
  joined.set("dimension", std::int64_t{0});
  set_attributes(instruction, nullptr, moved);
  moved.set("split_count", count);
  const ValueId one = builder.op("concatenate", std::move(operands), std::move(joined));
  const ValueId all = builder.op("all_to_all", {one}, std::move(moved));
  std::vector<ValueId> out;
  for (std::int64_t i = 0; i < count; ++i) {
    Ints begin(row.size(), 0), end = row;
    begin[0] = i, end[0] = i + 1;
    Attributes places;
    places.set("start_indices", begin), places.set("limit_indices", end);
    places.set("strides", Ints(row.size(), 1));
    const ValueId slice = builder.op("slice", {all}, std::move(places));
    out.push_back(builder.op("reshape", {slice}, {}, {part}));
  }
  return out;
}

}  // namespace trnsim::frontend::hlo
