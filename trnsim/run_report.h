// What a run prints and leaves in its folder.
#pragma once

#include <filesystem>
#include <map>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

#include "base/table.h"
#include "trnsim/project.h"
#include "workloads/trainer.h"

namespace trnsim {

/// The numeric part of a run.
struct Training {
  workloads::TrainOutcome outcome;
  double simulated_step_seconds = 0;  // of the program that was trained with
  std::string dataset;
  bool synthetic = false;
  std::int64_t train_samples = 0, eval_samples = 0, parameters = 0, samples_per_step = 0;
  std::string model;  // "bert-small, from scratch"
  std::string numerics;
};

struct RunReport {
  std::string workload, command;
  TrainOptions options;  // of the projected job, as resolved
  const workloads::Job* job = nullptr;
  const hw::MachineParams* machine = nullptr;
  const ProjectedJob* projected = nullptr;
  const Projection* projection = nullptr;
  const workloads::ModelConfig* decoder = nullptr;  // then the model is this one, on so many cores
  std::uint32_t cores = 0;
  bool is_published = false;  // the projected job is the one whose figures the workload file has
  std::optional<Training> training;
  double host_seconds = 0;
};

/// The projected job: time, samples/s and dollars; beside what was published, with the error of each, if it is that
/// job.
base::Table job_table(const RunReport& run);
base::Table engine_table(const Projection& projection);
base::Table time_table(const Projection& projection);
base::Table memory_table(const std::map<std::string, std::uint64_t>& by_kind, std::uint64_t total,
                         std::uint64_t capacity);
/// The sections of docs/result_schema.md.
nlohmann::ordered_json result_body(const RunReport& run);
/// result.json, stats.txt, machine.toml, summary.md; with a projection run.sqlite and report.html.
void write_run_files(const std::filesystem::path& folder, const RunReport& run);

}  // namespace trnsim
