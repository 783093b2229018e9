#include "frontend/rewrite/compose.h"

#include "frontend/rewrite/composer.h"
#include "frontend/rewrite/deep_products.h"
#include "frontend/rewrite/moves.h"
#include "frontend/rewrite/shorthands.h"

namespace trnsim::frontend {
namespace {

/// Batch normalisation of x [.., features, ..]: vectors [features] are spread over it, and sums over all else make one.
class BatchNorm {
 public:
  explicit BatchNorm(Composer& c)
      : c_{c},
        given_{c.type(c.given(0)).element},
        element_{stored_bytes(given_) < 4 ? Element::kF32 : given_},
        feature_{c.node().attributes.integer("feature_index")} {
    x_ = operand(0), scale_ = operand(1);
    whole_ = c.type(x_), vector_ = c.type(scale_);
    count_ = static_cast<double>(element_count(whole_.dims)) / static_cast<double>(element_count(vector_.dims));
  }

  void training() {
    const ValueId mean = mean_of(x_);
    const ValueId apart = c_.op("subtract", {x_, spread(mean)});
    const ValueId variance = mean_of(c_.op("multiply", {apart, apart}));
    c_.b().returns({back(normal(apart, variance, operand(2))), back(mean), back(variance)});
  }

  void inference() {
    const ValueId apart = c_.op("subtract", {x_, spread(operand(3))});
    c_.b().returns({back(normal(apart, operand(4), operand(2)))});
  }

  /// x, scale, mean, variance, dy -> dx, dscale, doffset.
  void gradient() {
    const ValueId apart = c_.op("subtract", {x_, spread(operand(2))}), dy = operand(4);
    const ValueId r = deviation(operand(3));
    const ValueId normal = c_.op("multiply", {apart, spread(r)});
    const ValueId dscale = sum(c_.op("multiply", {dy, normal})), doffset = sum(dy);
    const ValueId n = c_.number(count_, vector_);
    const ValueId shift = spread(c_.op("divide", {doffset, n})), tilt = spread(c_.op("divide", {dscale, n}));
    ValueId dx = c_.op("subtract", {c_.op("subtract", {dy, shift}), c_.op("multiply", {normal, tilt})});
    dx = c_.op("multiply", {dx, spread(c_.op("multiply", {scale_, r}))});
    c_.b().returns({back(dx), back(dscale), back(doffset)});
  }

 private:
  ValueId operand(std::size_t i) { return c_.in(element_, c_.given(i)); }
  ValueId back(ValueId v) { return c_.in(given_, v); }
  ValueId spread(ValueId vector) {
    return c_.b().op("broadcast_in_dim", {vector}, with("broadcast_dimensions", Ints{feature_}), {whole_});
  }
  ValueId sum(ValueId v) {
    Ints others;
    for (std::int64_t d = 0; d < static_cast<std::int64_t>(whole_.dims.size()); ++d)
      if (d != feature_) others.push_back(d);
    return c_.reduce("add", 0, v, std::move(others));
  }
  ValueId mean_of(ValueId v) { return c_.op("divide", {sum(v), c_.number(count_, vector_)}); }
  ValueId deviation(ValueId variance) {
    const ValueId eps = c_.number(c_.node().attributes.real("epsilon"), vector_);
    return c_.op("rsqrt", {c_.op("add", {variance, eps})});
  }
  ValueId normal(ValueId apart, ValueId variance, ValueId offset) {
    const ValueId factor = c_.op("multiply", {deviation(variance), scale_});
    return c_.op("add", {c_.op("multiply", {apart, spread(factor)}), spread(offset)});
  }

  Composer& c_;
  Element given_, element_;
  std::int64_t feature_;
  ValueId x_ = 0, scale_ = 0;
  Type whole_, vector_;
  double count_ = 1;
};

bool is_norm(std::string_view op) { return op.starts_with("batch_norm_"); }

void compute_norm(Composer& c) {
  const std::string_view op = c.node().op->name;
  BatchNorm norm{c};
  op == "batch_norm_training" ? norm.training() : op == "batch_norm_grad" ? norm.gradient() : norm.inference();
}

using Compute = void (*)(const Function& around, Composer& c);

/// The way in which the node becomes a function; none: it stays. `numbers`: its numbers are asked for, too.
Compute compute_of(const Module& module, const Function& around, const Node& node, bool numbers) {
  if (is_norm(node.op->name)) return [](const Function&, Composer& c) { compute_norm(c); };
  if (is_move(module, node)) return [](const Function&, Composer& c) { compute_move(c); };
  if (is_shorthand(around, node)) return compute_shorthand;
  if (numbers && is_rank_number(node)) return [](const Function&, Composer& c) { compute_rank_number(c); };
  if (numbers && is_deep_product(around, node)) return [](const Function&, Composer& c) { compute_deep_product(c); };
  return nullptr;
}

}  // namespace

void compose(Module& module, bool numbers) {
  const std::size_t own = module.functions.size();
  for (std::size_t f = 0; f < own; ++f)
    for (Node& node : module.functions[f].nodes) {
      const Compute compute = compute_of(module, module.functions[f], node, numbers);
      if (compute == nullptr) continue;
      Composer composer{module, module.functions[f], node};
      compute(module.functions[f], composer);
      composer.replace(node);
    }
}

}  // namespace trnsim::frontend
