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
    Rewrite{
        "paddings", &Rewrites::paddings,
        "a padded value that a truth, padded alike, picks beside the padding's number: PyTorch's gradient of a slice",
        "pad", rewrite::paddings},
    Rewrite{"row_orders", &Rewrites::row_orders,
            "transposes that are changes of form, and products, columns and functions of rows that are turned (tokens "
            "outside, sequences inside), where fewer elements are copied if the rows stay as memory has them",
            "the same, of rows in the order of memory", rewrite::row_orders},
    Rewrite{
        "attention", &Rewrites::attention,
        "softmax by rows between two products, with a scale in front of the product or behind it, scores that are "
        "capped by tanh, a mask that is added or selected, heads in any order of dimensions, keys that heads share, "
        "and its gradient, uncapped; not where something else reads what is in between",
        "attention, attention_grad", rewrite::attention},
    Rewrite{
        "norms", &Rewrites::norms,
        "layer norm and RMS norm of rows, with a gain or without, in any spelling (variance as the mean of squares "
        "around the mean or of squares less its square; rsqrt, a power or a quotient; eps a constant or data), with "
        "what a gradient keeps, and their gradients for what they normalise, with what a residual adds to them",
        "layernorm, rmsnorm, layernorm_grad, rmsnorm_grad", rewrite::norms},
    Rewrite{
        "losses", &Rewrites::losses,
        "cross-entropy of rows and integer labels, in any spelling (one-hot labels by compare and iota, converted or "
        "selected; with the largest number subtracted or not), times a number of each row, with its gradient, the "
        "logarithms of sums and their parts",
        "row_max, loss_sums, split_loss", rewrite::losses},
    Rewrite{"functions", &Rewrites::functions,
            "gelu by erf, tanh or a sigmoid, silu, sigmoid, and the derivatives of gelu, silu and tanh, alone or times "
            "a gradient",
            "one function of ScalarE", rewrite::functions},
    Rewrite{
        "row_sums", &Rewrites::row_sums,
        "sums of rows by index, from zeros on, that are added to something: the gradient of a table that is a head too",
        "sums by index on top of it", rewrite::row_sums},
    Rewrite{"scattered_sums", &Rewrites::scattered_sums,
            "an all-reduce that adds, of which each rank takes the part that its number says and nothing else is read",
            "reduce_scatter", rewrite::scattered_sums},
    Rewrite{
        "updates", &Rewrites::updates,
        "a parameter's update by its gradient and their moments: AdamW and Adam in any spelling (bias corrections as "
        "factors or of the moments, decay of the parameter or of the gradient, lerp), RMSprop and Adagrad, gradient "
        "descent with momentum; factors are constants or data",
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
      throw base::Error{base::Fault::kProgram, module.file, fmt::format("{}: \"{}\" is no switch", kRewritesKey, word),
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
