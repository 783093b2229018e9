// Values that count the places along a dimension, as one-hot rows are compared with.
#pragma once

#include "frontend/graph/graph.h"
#include "frontend/ops/operator.h"

namespace trnsim::frontend {

/// The dimension along which a value counts its places 0, 1, ...; -1: none. `maker` tells the node of a value.
template <class Maker>
std::int64_t counts_along(const Maker& maker, ValueId value) {
  const Node* node = maker(value);
  if (!node) return -1;
  if (node->op->name == "iota") return node->attributes.integer("iota_dimension");
  if (node->op->name == "convert") return counts_along(maker, node->operands[0]);
  if (node->op->name != "broadcast_in_dim") return -1;
  const std::int64_t inner = counts_along(maker, node->operands[0]);
  return inner < 0 ? -1 : node->attributes.ints("broadcast_dimensions").at(static_cast<std::size_t>(inner));
}

}  // namespace trnsim::frontend
