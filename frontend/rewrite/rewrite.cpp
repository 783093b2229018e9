#include "frontend/rewrite/rewrite.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "base/error.h"
#include "base/text.h"
#include "frontend/rewrite/patterns.h"

namespace trnsim::frontend {
namespace {

constexpr std::array kRewrites = {
    Rewrite{"paddings", &Rewrites::paddings,
            "a selection between a padded value and the padding number by a mask padded in the same way: PyTorch's "
            "gradient of a slice",
            "pad", rewrite::paddings},
    Rewrite{"row_orders", &Rewrites::row_orders,
            "transposes that only reorder rows (tokens outside, sequences inside), with the products, column "
            "operations and row functions on them, if fewer elements are copied when rows keep their order in memory",
            "the same on rows in memory order", rewrite::row_orders},
    Rewrite{"attention", &Rewrites::attention,
            "row-wise softmax between two products, with a scale before or after the product, scores capped by tanh, "
            "an added or selected mask, heads in any order of dimensions, and keys shared by heads; also its gradient, "
            "if scores are not capped. Not if anything else reads the values in between",
            "attention, attention_grad", rewrite::attention},
    Rewrite{"norms", &Rewrites::norms,
            "layer norm and RMS norm of rows, with or without a gain, in any spelling (variance as the mean of squared "
            "deviations, or as the mean of squares minus the squared mean; rsqrt, a power or a quotient; eps as a "
            "constant or as data), with the values kept for a gradient; also their gradients for the input, including "
            "the sum with a residual's gradient",
            "layernorm, rmsnorm, layernorm_grad, rmsnorm_grad", rewrite::norms},
    Rewrite{"losses", &Rewrites::losses,
            "cross-entropy of rows with integer labels, in any spelling (one-hot labels by compare and iota, converted "
            "or selected; with or without subtracting the maximum), times a weight per row; also its gradient, the "
            "logarithms of sums, and their parts",
            "row_max, loss_sums, split_loss", rewrite::losses},
    Rewrite{"functions", &Rewrites::functions,
            "gelu by erf, tanh or a sigmoid, silu, sigmoid, and the derivatives of gelu, silu and tanh, alone or times "
            "a gradient",
            "one function of ScalarE", rewrite::functions},
    Rewrite{"row_sums", &Rewrites::row_sums,
            "sums of rows by index that start from zeros and are then added to another value: the gradient of a table "
            "that is also the head",
            "sums by index that start from that value", rewrite::row_sums},
    Rewrite{"scattered_sums", &Rewrites::scattered_sums,
            "an all-reduce that adds, if each rank reads only the part given by its number", "reduce_scatter",
            rewrite::scattered_sums},
    Rewrite{"updates", &Rewrites::updates,
            "the update of a parameter and its moments: AdamW and Adam in any spelling (bias corrections as factors or "
            "on the moments, decay on the parameter or on the gradient, lerp), RMSprop, Adagrad, and gradient descent "
            "with momentum; factors are constants or data",
            "update", rewrite::updates},
};

}  // namespace

std::span<const Rewrite> rewrites() { return kRewrites; }

Rewrites switched(const Module& module, Rewrites which) {
  const auto given = module.extras.find(std::string{kRewritesKey});
  if (given == module.extras.end()) return which;
  for (const std::string_view word : base::split(given->second, ',')) {
    const bool is_switch = word.starts_with('+') || word.starts_with('-');
    const auto row = std::ranges::find(kRewrites, word.substr(is_switch ? 1 : 0), &Rewrite::name);
    if (!is_switch || row == kRewrites.end())
      throw base::Error{base::Fault::kProgram, module.file,
                        fmt::format("{}: \"{}\" is not a switch", kRewritesKey, word),
                        "write -norms or +functions (docs/frontend.md has the names), with commas between several"};
    which.*row->flag = word.front() == '+';
  }
  return which;
}

Module rewritten(const Module& module, const Rewrites& which, std::vector<RewriteNote>* notes) {
  Module out = module;
  for (const Rewrite& rewrite : kRewrites) {
    std::size_t count = 0;
    if (which.*rewrite.flag)
      for (Function& function : out.functions) {
        const std::size_t found = rewrite.apply(out, function);
        if (found > 0) rewrite::remove_unread(function);
        count += found;
      }
    if (notes) notes->push_back({rewrite.name, count});
  }
  return out;
}

}  // namespace trnsim::frontend
