#include "analysis/record/result.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <nlohmann/json.hpp>
#include <set>

#include "base/error.h"
#include "base/files.h"
#include "base/log.h"
#include "base/text.h"

namespace analysis {
namespace {

using base::Error;
using base::Fault;
constexpr std::string_view kSteps = "steps.jsonl";

}  // namespace

Json with_schema(const Json& body) {
  Json whole = {{"schema_version", kResultSchema}};
  whole.update(body);
  return whole;
}

void write_result(const std::filesystem::path& folder, const Json& body) {
  // A path that is not UTF-8 is shown with U+FFFD; the results matter more.
  base::write_file(folder / "result.json",
                   with_schema(body).dump(2, ' ', false, Json::error_handler_t::replace) + "\n");
}

Figures read_result(const std::filesystem::path& path) {
  if (!std::filesystem::exists(path))
    throw Error{Fault::kData, path.string(), "is missing", "give a folder that trnsim run completed"};
  const std::filesystem::path file = std::filesystem::is_directory(path) ? path / "result.json" : path;
  const std::string text = base::read_file(file);
  base::require_shallow_json(text, file.string());
  Json body = Json::parse(text, nullptr, false);
  if (!body.is_object()) {
    throw Error{Fault::kData, file.string(), "is not a JSON object", "give the folder that `trnsim run` wrote"};
  }
  if (!body.contains("schema_version") || !body["schema_version"].is_number_integer()) {
    throw Error{Fault::kData, file.string(), "has no schema_version", "give the folder that `trnsim run` wrote"};
  }
  const int version = body["schema_version"].get<int>();
  if (version > kResultSchema || version < 1) {
    throw Error{Fault::kData, file.string(),
                fmt::format("has schema {}, this trnsim reads schema {}", version, kResultSchema),
                "read it with the trnsim that wrote it, or a newer one"};
  }
  return figures_from(std::move(body), version, file.string());
}

std::string stats_text(std::span<const Stat> stats) {
  std::set<std::string_view> seen;
  std::string text;
  for (const Stat& stat : stats) {
    base::ensure(!stat.name.empty() && stat.name.find_first_of(" \t\n") == std::string::npos, stat.name,
                 "a statistic's name must be one word");
    base::ensure(seen.insert(stat.name).second, stat.name, "a statistic is there twice");
    text += fmt::format("{:<48} {:>20.12g} {:<8} # {}\n", stat.name, stat.value, stat.unit, stat.text);
  }
  return text;
}

void write_stats(const std::filesystem::path& folder, std::span<const Stat> stats) {
  base::write_file(folder / "stats.txt", stats_text(stats));
}

void write_machine(const std::filesystem::path& folder, const base::ParamFile& machine) {
  base::write_file(folder / "machine.toml", machine.to_toml());
}

void write_summary(const std::filesystem::path& folder, std::string_view title, std::span<const Section> sections) {
  std::string text = fmt::format("# {}\n", title);
  for (const Section& section : sections) {
    text += fmt::format("\n## {}\n\n| | |\n|---|---|\n", section.title);
    for (const Fact& fact : section.facts) {
      std::string cell;
      for (const char c : fact.text) cell += c == '|' ? "\\|" : c == '\n' ? "<br>" : std::string{c};
      text += fmt::format("| {} | {} |\n", fact.name, cell);
    }
  }
  base::write_file(folder / "summary.md", text);
}

StepLog::StepLog(const std::filesystem::path& folder, std::optional<std::int64_t> keep_steps) : path_{folder / kSteps} {
  std::string kept;
  if (keep_steps && std::filesystem::exists(path_)) {
    for (const StepFigures& step : read_steps(folder))
      if (step.step <= *keep_steps) {
        kept += to_json(step).dump() + "\n";
        steps_.push_back(step);
      }
  }
  base::write_file(path_, kept);
  file_ = base::opened(path_, O_WRONLY | O_APPEND);
  if (file_ >= 0) return;
  throw Error{Fault::kEnvironment, path_.string(), std::strerror(errno), "check the permissions of the output folder"};
}

StepLog::~StepLog() {
  if (file_ >= 0) ::close(file_);
}

void StepLog::append(const StepFigures& step) {
  const std::string text = to_json(step).dump() + "\n";
  const off_t before = ::lseek(file_, 0, SEEK_END);
  for (std::string_view rest = text; !rest.empty();) {
    const ssize_t written = ::write(file_, rest.data(), rest.size());
    if (written < 0 && errno == EINTR) continue;
    if (written < 0) {
      const int error = errno;
      if (::ftruncate(file_, before) != 0) base::log_warning("{}: its last line is incomplete", path_.string());
      throw Error{Fault::kEnvironment, path_.string(), std::strerror(error),
                  "free space on the disk, then resume the run"};
    }
    rest.remove_prefix(static_cast<std::size_t>(written));
  }
  steps_.push_back(step);
}

std::vector<StepFigures> read_steps(const std::filesystem::path& folder) {
  const std::string text = base::read_file(folder / kSteps);
  std::vector<StepFigures> lines;
  int number = 0;
  for (std::size_t begin = 0; begin < text.size();) {
    const std::size_t end = std::min(text.find('\n', begin), text.size());
    ++number;
    const std::string one = text.substr(begin, end - begin);
    Json line = base::is_shallow_json(one) ? Json::parse(one, nullptr, false) : Json{};
    if (end == text.size() && line.is_discarded()) break;  // cut: its run was stopped while it wrote
    if (!line.is_object() || !line.contains("step") || !line["step"].is_number_integer()) {
      throw Error{Fault::kData, fmt::format("{}:{}", (folder / kSteps).string(), number), "is not a step",
                  "remove the line, or the run folder"};
    }
    lines.push_back(step_from(line, fmt::format("{}:{}", (folder / kSteps).string(), number)));
    begin = end + 1;
  }
  return lines;
}

}  // namespace analysis
