// Rewrites of graphs: several operators that compute one thing together become the operation that the families use.
#pragma once

#include <cstddef>
#include <span>
#include <string_view>
#include <vector>

#include "frontend/graph/graph.h"

namespace trnsim::frontend {

/// The switches.
struct Rewrites {
  bool attention = true;
  bool functions = true;
  bool losses = true;
  bool norms = true;
  bool paddings = true;
  bool row_orders = true;
  bool row_sums = true;
  bool scattered_sums = true;
  bool updates = true;
};

/// One pattern. A new one: its file in this folder, a switch, a row in rewrite.cpp, its test.
struct Rewrite {
  std::string_view name;
  bool Rewrites::*flag;
  std::string_view finds, becomes;           // for docs
  std::size_t (*apply)(Module&, Function&);  // returns how many it found
};
std::span<const Rewrite> rewrites();

/// The attribute of a module that switches them, "-norms,+functions".
inline constexpr std::string_view kRewritesKey = "trnsim.rewrites";
/// `which`, switched as the module's attribute says. Errors: Fault::kProgram for an unknown name.
Rewrites switched(const Module& module, Rewrites which);

/// How many operations a rewrite made.
struct RewriteNote {
  std::string_view name;
  std::size_t count = 0;
};

/// The module with all patterns replaced that are switched on; nodes that nothing reads any more are gone. Values that
/// others read keep being made. It is for the lowering alone: the custom calls of fused operations have no reference.
Module rewritten(const Module& module, const Rewrites& which, std::vector<RewriteNote>* notes = nullptr);

}  // namespace trnsim::frontend
