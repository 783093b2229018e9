// A row of the micro schema, taken apart, and the program that it asks for.
#pragma once

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "base/text.h"
#include "isa/program.h"
#include "validation/predict/predict_row.h"

namespace validation {

/// A row, taken apart.
struct MicroJob {
  const Row& row;
  const PredictContext& context;
  Words kernel;
  Shape shape;
  isa::Dtype dtype = isa::Dtype::kFp32;
  int cores = 1;
  std::vector<std::string> assumed{};

  /// The core of the row's machine. Errors: as machine_of().
  isa::Target target() const {
    std::vector<std::string> ignored;  // a caller that needs the machine itself states the assumptions
    return machine_of(std::get<MicroRow>(row.job).instance, context, ignored).target();
  }
  /// For a skip: the row's kernel is not one of its kind's.
  std::string unknown(std::string_view why) const {
    return fmt::format("kernel '{}' is not modelled: {}", std::get<MicroRow>(row.job).what, why);
  }
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

/// The program of a core, and facts that a metric may need; 0: not applicable.
struct MicroPlan {
  isa::Program program;
  double flops = 0, bytes = 0;
};
using MicroPlanned = std::variant<MicroPlan, std::string>;  // or the reason for its absence

/// A matmul alone: by the NKI tutorial's tiling when the row says so, otherwise compiled.
MicroPlanned plan_gemm(MicroJob& job);
/// Everything of kind "kernel": matmuls and steps by rows in a chain, attention, optimizers, scans, blocks.
MicroPlanned plan_kernel(MicroJob& job);

/// A figure that a profile prints of single instructions and descriptors, a duration or a gap; nothing when the row's
/// kernel is the name of none.
std::optional<Prediction> predict_profiled(MicroJob& job);

}  // namespace validation
