#include "workloads/training/trainer_state.h"

#include <fmt/format.h>

#include "base/error.h"
#include "workloads/checkpoints/json_file.h"

namespace workloads {
namespace {

using nlohmann::json;

json to_json(const LogEntry& entry) {
  json line = {{"epoch", entry.epoch}, {"step", entry.step}};
  for (const auto& [key, value] : entry.values) std::visit([&, k = key](auto v) { line[k] = v; }, value);
  return line;
}

LogEntry log_entry(const json& line) {
  LogEntry entry{.epoch = line.at("epoch"), .step = line.at("step")};
  for (const auto& [key, value] : line.items()) {
    if (key == "epoch" || key == "step" || !value.is_number()) continue;
    if (value.is_number_integer())
      entry.values.emplace_back(key, value.get<std::int64_t>());
    else
      entry.values.emplace_back(key, value.get<double>());
  }
  return entry;
}

/// The list as json::dump() writes it. A long training has many lines, and as JSON values all at once they would take
/// ten times the memory of their text.
std::string history_text(const std::vector<LogEntry>& entries, TrainerStateForm form) {
  if (entries.empty()) return "[]";
  const std::string break_ = form == TrainerStateForm::kIndented ? "\n    " : "";
  std::string out = "[";
  for (const LogEntry& entry : entries) {
    if (out.size() > 1) out += ',';
    out += break_;
    for (const char c : to_json(entry).dump(break_.empty() ? -1 : 2)) c == '\n' ? out += break_ : out += c;
  }
  return out + (break_.empty() ? "]" : "\n  ]");
}

}  // namespace

std::string trainer_state_json(const TrainerState& state, TrainerStateForm form) {
  const json file = {{"best_metric", nullptr},
                     {"best_model_checkpoint", nullptr},
                     {"epoch", state.epoch},
                     {"global_step", state.global_step},
                     {"is_hyper_param_search", false},
                     {"is_local_process_zero", true},
                     {"is_world_process_zero", true},
                     {"log_history", json::array()},
                     {"logging_steps", state.logging_steps},
                     {"max_steps", state.max_steps},
                     {"num_train_epochs", state.num_train_epochs},
                     {"save_steps", state.save_steps},
                     {"total_flos", state.total_flos},
                     {"train_batch_size", state.train_batch_size},
                     {"trial_name", nullptr},
                     {"trial_params", nullptr}};
  std::string text = file.dump(form == TrainerStateForm::kIndented ? 2 : -1) + "\n";
  return text.replace(text.find("[]", text.find("\"log_history\"")), 2, history_text(state.log_history, form));
}

TrainerState trainer_state_of(const std::string& text, const std::string& where) {
  const json file = parse_json(text, where);
  try {
    TrainerState state;
    file.at("epoch").get_to(state.epoch);
    file.at("global_step").get_to(state.global_step);
    file.at("max_steps").get_to(state.max_steps);
    file.at("num_train_epochs").get_to(state.num_train_epochs);
    file.at("total_flos").get_to(state.total_flos);
    state.logging_steps = file.value("logging_steps", state.logging_steps);
    state.save_steps = file.value("save_steps", state.save_steps);
    state.train_batch_size = file.value("train_batch_size", state.train_batch_size);
    for (const json& line : file.at("log_history")) state.log_history.push_back(log_entry(line));
    return state;
  } catch (const json::exception& error) {
    throw base::Error{base::Fault::kData, where, fmt::format("is not a trainer_state.json: {}", error.what()),
                      "name a checkpoint folder that was written by a run"};
  }
}

}  // namespace workloads
