// A row of the micro schema, taken apart, and the program that it asks for.
#pragma once

#include <algorithm>
#include <cctype>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "base/text.h"
#include "isa/program.h"
#include "validation/predict/predict_row.h"

namespace trnsim {

/// A row's text, taken apart.
struct MicroJob {
  const analysis::Row& row;
  const PredictContext& context;
  std::string what;  // small letters
  analysis::Shape shape;
  isa::Dtype dtype = isa::Dtype::kFp32;
  int cores = 1;
  std::vector<std::string> assumed{};

  /// The core of the row's machine. Errors: as machine_of().
  isa::Target target() const {
    std::vector<std::string> ignored;  // who asks for the machine itself says what was assumed
    return machine_of(std::get<analysis::MicroRow>(row.job).instance, context, ignored).target();
  }
  bool says(std::string_view word) const { return what.find(word) != std::string::npos; }
  /// The size that the shape gives under one of these names, in small letters: "heads32" is named("heads").
  std::optional<std::int64_t> named(std::initializer_list<std::string_view> names) const {
    for (const std::string_view name : names)
      for (const auto& [key, value] : shape.named)
        if (base::lower(key) == name) return static_cast<std::int64_t>(value);
    return std::nullopt;
  }
  std::int64_t size(std::size_t i) const { return static_cast<std::int64_t>(shape.sizes.at(i)); }
  bool has_sizes(std::size_t count) const {
    return shape.sizes.size() == count && std::ranges::all_of(shape.sizes, [](double v) { return v >= 1; });
  }
};

/// What a core runs, and what a metric may need to know of it; 0: nothing.
struct MicroPlan {
  isa::Program program;
  double flops = 0, bytes = 0;
};
using MicroPlanned = std::variant<MicroPlan, std::string>;  // or why there is none

/// A matmul alone: by the NKI tutorial's tiling when the row says so, otherwise compiled.
MicroPlanned plan_gemm(MicroJob& job);
/// Everything of kind "kernel": matmuls and steps by rows in a chain, attention, optimizers, scans, blocks.
MicroPlanned plan_kernel(MicroJob& job);

/// What a profile printed of single instructions and descriptors: durations and gaps; nothing when the row asks for
/// none.
std::optional<analysis::Prediction> predict_profiled(MicroJob& job);

}  // namespace trnsim
