// A workload from its file to a folder of results: the published job projected, a model trained for real.
#pragma once

#include <filesystem>
#include <functional>
#include <optional>
#include <string>
#include <utility>

#include "analysis/figures/figures.h"
#include "trnsim/generation.h"
#include "trnsim/plans/ablate.h"
#include "trnsim/plans/answer.h"
#include "trnsim/projection.h"
#include "trnsim/run/train.h"
#include "workloads/jobs/workload.h"

namespace analysis {
struct Record;  // analysis/record/record.h
}  // namespace analysis

namespace trnsim {

class KnownBlocks;  // trnsim/plans/known_blocks.h

struct RunRequest {
  workloads::Workload workload;
  Settings given;
  std::string command;               // as result.json tells it
  std::vector<std::string> typed{};  // its words with every flag, for a change of it; empty: not typed
  std::filesystem::path folder;      // of the results
  TraceWindow trace{};
  KnownBlocks* known = nullptr;  // shared with other runs of this process, which was made for them
};

struct RunResult {
  TraceWindow trace{};                       // whose instructions were recorded
  std::string workload, text, command;       // text: the job in a line
  std::pair<std::string, std::string> file;  // of a workload of the user's, with hash_of_file(); else empty
  std::vector<std::string> typed;            // as requested
  Settings settings;                         // of the projected job, as resolved
  hw::MachineParams machine;                 // of the projected job, or of the one that is trained
  std::optional<Job> job;                    // none: nothing was projected
  std::optional<Projection> projection;
  std::optional<CompilerGain> gain;  // of workloads that are about the compiler: then the job is its last case
  std::optional<std::vector<Change>> changes;   // of the projected job, that would help most; absent: not requested
  std::vector<workloads::Published> published;  // figures of this very job
  std::optional<workloads::Published> published_gain;
  std::optional<Job> trained;
  std::optional<Settings> trained_settings;  // its own: the small model may have others than the projected job
  std::optional<Training> training;
  std::vector<analysis::StepFigures> steps;  // of the training, those that are logged
  std::vector<GeneratedText> texts;          // that were written, of a generation with weights
  double host_seconds = 0;
};

/// The hash of a file's contents, as text.
std::string hash_of_file(const std::filesystem::path& file);

/// The observers of a run; each may be empty.
struct RunObserver {
  std::function<void(const RunResult&)> projected;  // the folder is made; changes are not searched, nothing is trained
  std::function<void(const RunResult&)> advised;    // they are, if they were asked for
  TrainObserver training;
  GenerateObserver generation;
  std::function<void(const std::string&)> note;  // notes for the user, one sentence each
};

/// Refuses conflicting settings before the first file is written. Errors: Fault::kUsage for a folder in use; as
/// project() and load_training().
RunResult run(const RunRequest& request, const RunObserver& observer = {});

/// The part of run() about the projected job alone: nothing is trained, no folder written. Errors: as run().
RunResult projected_run(const RunRequest& request, const RunObserver& observer = {});

/// The published job of a workload, or one that the user's settings changed, as run() projects it.
Job projected_job(const workloads::Workload& workload, const Settings& given);

/// All figures of the run.
analysis::Figures figures_of(const RunResult& run);
/// The record of the slowest stage, which sets the time of a step, or of another stage.
analysis::Record record_of(const RunResult& run);
analysis::Record record_of(const RunResult& run, std::size_t stage);
/// Removes the files of an earlier run in `folder`, its result first: so that a run that dies is not taken for it. For
/// a run that resumes from `checkpoint` in the folder, steps and checkpoint stay; other files always do. Errors:
/// Fault::kEnvironment.
void remove_run_files(const std::filesystem::path& folder, const std::filesystem::path& checkpoint);
/// result.json, stats.txt, machine.toml, summary.md; with a projection also run.sqlite, a record of each stage of a
/// pipeline, and report.html.
void write_run_files(const std::filesystem::path& folder, const RunResult& run);

}  // namespace trnsim
