// The folder of a run: its settings, steps and results. The schema is documented in docs/result_schema.md.
#pragma once

#include <filesystem>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "analysis/figures/figures.h"
#include "analysis/profile/stats.h"
#include "base/param_file.h"

namespace analysis {

/// Raised by one when a reader of the last schema would misread the new one; new keys alone do not raise it. 2: a
/// figure has one name everywhere; files of schema 1 are read too.
inline constexpr int kResultSchema = 2;

/// `body` as result.json has it, behind its "schema_version".
Json with_schema(const Json& body);
/// Errors: Fault::kEnvironment. The file is complete or absent.
void write_result(const std::filesystem::path& folder, const Json& body);
/// `path`: the folder or the file. Errors: Fault::kData for a missing file, no JSON object, a missing or newer schema,
/// a value of another type.
Figures read_result(const std::filesystem::path& path);

/// stats.txt: `name value unit # text`, a line each. Errors: Fault::kEnvironment; kInternal for a name with a blank or
/// one given twice.
void write_stats(const std::filesystem::path& folder, std::span<const Stat> stats);
std::string stats_text(std::span<const Stat> stats);

/// machine.toml: every parameter as resolved, loadable again.
void write_machine(const std::filesystem::path& folder, const base::ParamFile& machine);

/// summary.md: a title, then name and text of each fact.
struct Fact {
  std::string name, text;
};
struct Section {
  std::string title;
  std::vector<Fact> facts;
};
void write_summary(const std::filesystem::path& folder, std::string_view title, std::span<const Section> sections);

/// steps.jsonl: one JSON object a line, handed to the system line by line, so that a run that is killed leaves whole
/// lines. A resumed run appends to the same file: lines of steps after `keep_steps` are dropped first.
class StepLog {
 public:
  /// Errors: Fault::kEnvironment.
  StepLog(const std::filesystem::path& folder, std::optional<std::int64_t> keep_steps = {});
  ~StepLog();
  StepLog(const StepLog&) = delete;
  StepLog& operator=(const StepLog&) = delete;

  /// NaN and infinity become null. Errors: Fault::kEnvironment (disk full); then the file is as before.
  void append(const StepFigures& step);
  /// Those that were kept, and those that were appended.
  const std::vector<StepFigures>& steps() const { return steps_; }

 private:
  std::filesystem::path path_;
  std::vector<StepFigures> steps_;
  int file_ = -1;
};

/// The lines of a steps.jsonl; not a last one that was cut when its run was stopped. Errors: Fault::kData with the line
/// number.
std::vector<StepFigures> read_steps(const std::filesystem::path& folder);

}  // namespace analysis
