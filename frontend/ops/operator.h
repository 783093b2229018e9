// The table of operators: one row each, from which readers, the interpreter, the lowering, listings and
// docs/frontend.md follow. Adding an operator is a row, the functions that it names, and a test.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "frontend/graph/graph.h"

namespace trnsim::frontend {

class Contract;    // frontend/ops/contract.h: a node with its types, for rules of shapes
class Evaluation;  // frontend/interpret/evaluation.h: a node with its operands' values, for the interpreter

/// For listings, coverage and docs.
enum class Group : std::uint8_t {
  kElementwise,  // each result element from the operands' elements in its place
  kConversion,   // of types and bits
  kCreation,     // from no operand
  kMovement,     // elements in other places
  kReduction,    // reduce, windows, sort, scan
  kProduct,      // dot products, convolution
  kIndexed,      // gather, scatter, dynamic slices
  kControl,      // while, if, case, calls
  kCollective,   // between processes
  kRandom,
  kTuple,     // tuples, tokens, barriers
  kTransfer,  // infeed, outfeed, send, recv
  kOther,
};
std::string_view name_of(Group group);

/// The type of an attribute in the table.
enum class AttributeKind : std::uint8_t { kFlag, kInteger, kReal, kText, kInts, kTable, kTexts, kType, kLiteral };

struct AttributeRule {
  std::string_view name;  // StableHLO's: "broadcast_dimensions"
  AttributeKind kind = AttributeKind::kInts;
  bool required = true;
};

/// One row. Names without dialect, except CHLO's: "add", "dot_general", "chlo.erf"; the lowering and the exporter refer
/// to rows by `name` too.
struct Operator {
  std::string_view name;
  std::string_view hlo = {};  // opcode in HLO: "dot"; empty: HLO has none
  Group group = Group::kElementwise;
  int operands = -1;  // -1: any number, by the rule
  int regions = 0;    // -1: any number
  std::vector<AttributeRule> attributes = {};
  /// The types of the results, after checking the specification's constraints, which errors cite: "(C3)". An empty
  /// pointer: the types are those that the program states.
  std::vector<Type> (*infer)(const Contract&) = nullptr;
  /// The reference: computes the results. An empty pointer: the interpreter refuses the operator, with `refusal`.
  void (*evaluate)(Evaluation&) = nullptr;
  /// Two for each multiplication and addition of products; an empty pointer: none are counted.
  double (*product_flops)(const Contract&) = nullptr;
  std::string_view code = {};     // neuronx-cc refuses it with this code (EVRF001, ...); empty: it takes it
  std::string_view refusal = {};  // a sentence that says why nothing here computes it
};

std::span<const Operator> operators();
/// nullptr: none. Names of StableHLO without "stablehlo.", CHLO's with "chlo.".
const Operator* find_operator(std::string_view name);
/// By opcode of HLO ("dot"); where several rows have the opcode, the first.
const Operator* find_hlo_operator(std::string_view opcode);
/// Errors: Fault::kInternal when no row has the name.
const Operator& operator_named(std::string_view name);

}  // namespace trnsim::frontend
