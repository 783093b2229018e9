// A program of any framework, HLO or StableHLO in a file, as a model: so that every question about a model can be asked
// of it.
#pragma once

#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "frontend/graph/graph.h"
#include "frontend/lower/lower.h"
#include "workloads/jobs/workload.h"
#include "workloads/models/model.h"

namespace trnsim {

/// Whether a file is such a program, by its name: .hlo, .hlo_module.pb, .hlo.pb, .pb, .mlir, each also with .gz.
bool is_graph_file(const std::filesystem::path& path);
/// Errors: as frontend::hlo::read_file(), frontend::hlo::graph_of() and the reader of StableHLO.
frontend::Module load_graph(const std::filesystem::path& path);

/// Lowered for its time, within the number of instructions that neuronx-cc takes.
frontend::LowerOptions as_compiled(std::optional<runtime::Dtype> operand = {});

/// The program of one file as a model. Its step is the program; it has no sizes, and takes no other plan than its own.
class GraphModel : public workloads::Model {
 public:
  GraphModel(std::string file, frontend::Module module);

  std::vector<workloads::WeightSpec> weights() const override { return {}; }
  workloads::StepGraph step(const workloads::Step& step) const override;
  double flops(const workloads::Step& step) const override;
  workloads::FrameworkOps traced_ops(const workloads::Step& step) const override;
  std::optional<workloads::Problem> refuses(const workloads::Plan& plan) const override;
  std::string config_json() const override;
  void require_valid(std::string_view where) const override;
  workloads::ModelPtr with(const workloads::ModelChange& change) const override;

  /// The same with rewrites switched: "-norms,+losses". Errors: Fault::kUsage for a switch that changes nothing.
  std::shared_ptr<const GraphModel> with_rewrites(std::string_view switches) const;

  const frontend::Module& module() const { return module_; }
  const frontend::LoweredGraph& lowered() const { return lowered_; }
  std::int64_t ranks() const { return lowered_.ranks; }

 private:
  std::string file_;
  frontend::Module module_;
  frontend::Lowerable lowerable_;
  frontend::LoweredGraph lowered_;
  std::uint64_t hash_ = 0;
};

std::shared_ptr<const GraphModel> load_graph_model(const std::filesystem::path& path);
/// The program of a stage of a job as HLO: text, or a proto.
std::string hlo_of(const runtime::Graph& graph, const std::string& name, bool proto);

/// A module of the Neuron compile cache.
struct CachedProgram {
  std::filesystem::path file;
  std::string name, flags;
};
/// Errors: Fault::kData for a folder without modules.
std::vector<CachedProgram> cached_programs(const std::filesystem::path& folder);

/// A workload of that program alone: timed, on as many cores as it names.
workloads::Workload graph_workload(const std::filesystem::path& path);
/// That of a program's file, or the workload of that name. Errors: as graph_workload() and workloads::load_workload().
workloads::Workload workload_of(const std::string& name);

}  // namespace trnsim
