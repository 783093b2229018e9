// The patterns, one file each, and their common tools.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "frontend/graph/graph.h"
#include "frontend/graph/producers.h"

namespace trnsim::frontend::rewrite {

/// Each returns how many of its operations it made.
std::size_t attention(Module& module, Function& function);
std::size_t functions(Module& module, Function& function);
std::size_t losses(Module& module, Function& function);
std::size_t norms(Module& module, Function& function);
std::size_t paddings(Module& module, Function& function);
std::size_t row_orders(Module& module, Function& function);
std::size_t row_sums(Module& module, Function& function);
std::size_t scattered_sums(Module& module, Function& function);
std::size_t updates(Module& module, Function& function);

/// Whether a node computes functions of reals, with `by_rows` also sums of rows and changes of form.
bool is_followed(const Node& node, bool by_rows);
/// `value` and those that it is computed from by functions of reals, with `by_rows` also by sums of rows and changes of
/// form, not more than `most`, the latest first; not those that `until` is computed from.
std::vector<ValueId> origins(const Function& function, const Producers& producers, ValueId value, std::size_t most,
                             bool by_rows, std::optional<ValueId> until = {});
/// Whether `variable` is among origins().
bool depends_on(const Function& function, const Producers& producers, ValueId value, ValueId variable, bool by_rows,
                std::size_t most);
/// How many values besides `variable` and numbers `value` is computed from so; `most` or more count as `most`. Of
/// functions of elements, all that is computed without the variable is one value.
std::size_t others_behind(const Function& function, const Producers& producers, ValueId value, ValueId variable,
                          bool by_rows, std::size_t most);

/// A custom call with its operands and the types of its results, which are new values of the function.
Node custom_call(Function& function, const std::string& target, std::vector<ValueId> operands,
                 const std::vector<Type>& results);
/// An operator of one result, a new value of the function.
Node plain_node(Function& function, std::string_view op, std::vector<ValueId> operands, const Type& result);

/// Nodes in an order in which they can be computed, as near to the given one as that allows.
void put_in_order(Function& function);
/// Whether a node's only region is one operator of its two parameters.
bool is_region_of(const Module& module, const Node& node, std::string_view op);
/// `value` in the form and type of another one, by nodes that it adds to `made`.
ValueId formed(Function& function, ValueId value, const Type& type, std::vector<Node>& made);
/// Whether nothing is lost with a node without readers: it computes elements, or moves or sums them.
bool is_removable(const Node& node);
/// Without the nodes that compute, move or sum elements which nothing reads.
void remove_unread(Function& function);
/// Readers of a value of the left read that of the right.
void replace_reads(Function& function, const std::map<ValueId, ValueId>& by);
/// As replace_reads(), where nodes `made` compute the values of the right: each comes in front of its first reader.
void replace_by(Function& function, const std::vector<Node>& made, const std::map<ValueId, ValueId>& by);

}  // namespace trnsim::frontend::rewrite
