// Attention in a graph: its search, and its gradient.
#pragma once

#include <optional>
#include <set>
#include <vector>

#include "frontend/ops/dimensions.h"
#include "frontend/rewrite/placed.h"

namespace trnsim::frontend::rewrite {

/// An operand of a product by heads: axes of `root`'s memory, the outermost first.
struct HeadOperand {
  ValueId root = 0;
  DimAxes batch{}, group{}, tokens{}, size{};  // group: heads that share keys, as a dimension of their own
  Scaling scaling{};                           // in front of the product

  bool same(const HeadOperand& other) const;
};

/// The products of a gradient, each with the side of its operand that has the scores' form.
struct AttentionGradientUse {
  struct Product {
    const Node* node = nullptr;
    std::size_t side = 0;
  };
  Product dq{}, dk{}, dv{};
  HeadOperand dy{};
  Scaling scaling{};                // of the scores' gradient
  bool cleared = false;             // it is 0 where a number that is not infinite hides scores
  std::optional<ValueId> scores{};  // it, where a bias has it as its gradient, too
};

struct AttentionUse {
  const Node *product = nullptr, *context = nullptr;  // of queries and keys, of probabilities and values
  std::size_t p_side = 0;                             // of `context`
  ValueId p = 0, scores = 0;                          // probabilities, and what they are the softmax of
  Scaling scaling{};                                  // behind the product
  double soft_cap = 0;                                // scores become soft_cap * tanh(scores / soft_cap)
  bool causal = false;
  std::optional<ValueId> mask{};    // added to scores, or with `hidden`
  std::optional<double> hidden{};   // truths: this is the score of keys that are not seen,
  bool hides = false;               // or that are
  std::optional<ValueId> chosen{};  // truths that select the scores, and hide the others
  HeadOperand q{}, k{}, v{};
  std::int64_t queries = 0, keys = 0, head = 0;
  std::set<ValueId> chain{};  // from the product to the scores
  std::optional<AttentionGradientUse> gradient{};
};

class AttentionSearch {
 public:
  AttentionSearch(const Module& module, const Function& function);

  /// The attention whose last product a node is. A value between its products that something else reads keeps it as it
  /// is.
  std::optional<AttentionUse> at(const Node& product) const;
  const std::vector<const Node*>& readers(ValueId value) const { return readers_[value]; }
  /// Whether a node multiplies `value` by the number of `by` that data says, or divides it, and does nothing else.
  bool is_scaling(const Node& node, ValueId value, const Scaling& by) const;
  /// Whether all that is read of a product, in whatever form, is it behind `is_scaling`.
  bool always_scaled(const Node& product, const Scaling& by) const;
  /// Whether a node adds elements up, and nothing to them.
  bool is_sum(const Node& node) const;

 private:
  using Products = std::vector<AttentionGradientUse::Product>;

  bool softmax_behind(AttentionUse& use, ValueId operand) const;
  bool reaches_product(ValueId value) const;
  bool scores_behind(AttentionUse& use, ValueId value) const;
  void masked(AttentionUse& use, ValueId mask) const;
  std::optional<ValueId> selected(AttentionUse& use, const Node& node) const;
  bool is_causal(ValueId truth, bool later) const;
  bool operands(AttentionUse& use) const;
  bool values(AttentionUse& use) const;
  std::set<ValueId> between(ValueId last, const std::set<ValueId>& first) const;
  bool alone(const AttentionUse& use) const;

  HeadOperand summed_operand(const Node& node, std::size_t side, bool scaled = false) const;
  HeadOperand kept_operand(const Node& node, std::size_t side, bool scaled = false) const;
  Products products_of(ValueId value, std::set<ValueId>& others) const;
  bool gradient(AttentionUse& use, const Products& of_p, const std::set<ValueId>& others) const;
  std::optional<ValueId> scores_gradient(const AttentionUse& use, AttentionGradientUse& out, const Node& dp,
                                         std::set<ValueId>& inside) const;
  std::optional<ValueId> seen_gradient(const AttentionUse& use, ValueId value) const;
  std::optional<ValueId> scaled_gradient(AttentionGradientUse& out, ValueId value) const;

  const Module& module_;
  const Function& function_;
  const Producers producers_;
  std::vector<std::vector<const Node*>> readers_;  // nullptr: the function's results, and captures of regions
};

}  // namespace trnsim::frontend::rewrite
