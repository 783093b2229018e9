#include "trnsim/graphs/rewrite_switches.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/error.h"
#include "base/text.h"
#include "frontend/rewrite/rewrite.h"
#include "trnsim/graphs/graph_model.h"

namespace trnsim {

PassSwitches pass_switches(std::string_view text) {
  PassSwitches out;
  if (text.empty()) return out;
  for (const std::string_view item : base::split(text, ',')) {
    const bool is_switch = item.starts_with('+') || item.starts_with('-');
    const bool named = is_switch && std::ranges::find(frontend::rewrites(), item.substr(1), &frontend::Rewrite::name) !=
                                        frontend::rewrites().end();
    std::string& to = named ? out.rewrites : out.passes;
    to += (to.empty() ? "" : ",") + std::string{item};
  }
  return out;
}

std::vector<std::string> rewrite_names() {
  std::vector<std::string> out;
  for (const frontend::Rewrite& rewrite : frontend::rewrites()) out.emplace_back(rewrite.name);
  return out;
}

workloads::ModelPtr with_rewrites_of(const workloads::ModelPtr& model, std::string_view text) {
  const std::string rewrites = pass_switches(text).rewrites;
  if (rewrites.empty()) return model;
  if (const auto* graph = dynamic_cast<const GraphModel*>(model.get())) return graph->with_rewrites(rewrites);
  throw base::Error{base::Fault::kUsage, "`passes`",
                    fmt::format("'{}' switches rewrites of graphs, but {} is not a graph", rewrites, model->family()),
                    "leave it out, or give a program as .hlo, .mlir or .pb"};
}

}  // namespace trnsim
