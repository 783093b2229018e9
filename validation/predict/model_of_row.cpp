#include "validation/predict/model_of_row.h"

#include <algorithm>

#include "workloads/models/published.h"

namespace trnsim {

std::variant<workloads::ModelPtr, std::string> model_of_row(const analysis::Row& row,
                                                            std::vector<std::string>& assumed) {
  const auto& job = std::get<analysis::TrainingRow>(row.job);
  const auto size = [](const std::optional<int>& cell) { return std::int64_t{std::max(cell.value_or(0), 0)}; };
  return workloads::published_model({.name = job.model,
                                     .notes = row.notes,
                                     .sizes = {.layers = size(job.layers),
                                               .hidden = size(job.hidden),
                                               .heads = size(job.heads),
                                               .kv_heads = size(job.kv_heads),
                                               .ffn = size(job.ffn),
                                               .vocabulary = size(job.vocab)},
                                     .length = size(job.seq_len)},
                                    assumed);
}

}  // namespace trnsim
