// Published measurements of real machines: the four table schemas that `trnsim validate` reads.
// validation/tables/README.md explains each column, and the meaning of an empty cell.
#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

namespace validation {

/// A cell that says yes, no, or unpublished.
enum class Known : std::uint8_t { kNo, kYes, kUnknown };

/// A cell of a name and settings: "mamba version=2" is `mamba` with `version` 2, "rank=16" has no name.
struct Words {
  std::string name;
  std::map<std::string, std::string, std::less<>> settings{};  // without a value: ""

  bool has(std::string_view key) const { return settings.contains(key); }
  std::string text(std::string_view key) const;
  /// Absent when the key is, or its value is not an integer.
  std::optional<std::int64_t> number(std::string_view key) const;
  /// The first key that is not in `keys`; empty when all are.
  std::string unknown(std::string_view keys) const;
  bool operator==(const Words&) const = default;
};
Words parse_words(std::string_view cell);

/// The model of a row. A cell that is empty or `unknown` is absent here, as in all groups of cells.
struct ModelCells {
  std::string model;
  std::string like;  // family, or a preset that it is like but for its sizes; "blocks"
  std::optional<int> layers, hidden, heads, kv_heads, ffn, vocab;
  std::optional<int> image, patch, channels;  // of a model of pictures
  std::optional<int> labels;                  // that a classifier tells apart
  Known tied = Known::kUnknown;               // whether the output layer is the token table
  Known dropout = Known::kUnknown;
  Known causal = Known::kUnknown;  // of bare blocks
  std::string block;               // their differences from LayerNorm and a GELU MLP
  std::string head;                // "classifier", "tokens", "pretraining", "masked"
  Words lora{};                    // rank, alpha, dropout, layers

  bool operator==(const ModelCells&) const = default;
};

/// Machine and parallel plan of a row, and the formats of its numbers.
struct PlanCells {
  std::string instance;
  std::optional<int> nodes, cores, dp, tp, pp;
  Known zero1 = Known::kUnknown, seq_parallel = Known::kUnknown;
  std::string recompute;  // "none", "selective", "full" or "unknown"
  std::optional<int> micro_batch, grad_accum;
  std::string weights, optimizer_state, optimizer;
  std::optional<int> lora_rank;  // of a table of memory

  bool operator==(const PlanCells&) const = default;
};

/// The work, and its duration.
struct JobCells {
  std::optional<int> seq_len;
  std::string stack, release;  // the host's software; the stack file of its release
  std::string timing;          // "steps", "trial", "logged"; empty: the whole job
  std::optional<int> samples, epochs, steps, eval_samples, tokens;
  std::optional<int> prompt_tokens, new_tokens, prompt_bucket;
  std::optional<int> at_once;  // batches that an inference works on
  std::string draft;           // the model that guesses tokens ahead of a generation
  std::optional<int> releases;
  std::string verdict;  // "fits", "does not fit"

  bool operator==(const JobCells&) const = default;
};

/// A row of the training schema: a whole training, inference or generation job. Predictions state the
/// assumptions for absent cells.
struct TrainingRow : ModelCells, PlanCells, JobCells {
  bool operator==(const TrainingRow&) const = default;
};

/// A row of the micro schema: one kernel, copy, launch, collective or compiled graph.
struct MicroRow {
  std::string what, shape, dtype;
  Words kernel;  // which program; of a table of compile times, which graph
  std::optional<int> cores;
  std::string instance;
  std::optional<int> seq_len;  // of a table of compile times
  Known cold = Known::kUnknown;

  bool operator==(const MicroRow&) const = default;
};

/// Without its columns `source` and `notes`, which are for people: no prediction can depend on their wording.
struct Row {
  std::string id, kind;
  double published = 0, low = 0, high = 0;  // in `metric`; micro rows: low = high = published
  std::string metric;                       // "samples/s", "ms", "TFLOPS", ...
  std::string assumed;                      // for people: the assumptions of the cells
  std::string publisher;                    // of the figure; no prediction reads it
  bool untold = false;                      // something of the job was not published
  int line = 0;
  std::string defect;  // why the row cannot be predicted, when a cell does not fit its column
  std::variant<TrainingRow, MicroRow> job;

  bool operator==(const Row&) const = default;
};

/// Reads a table of training or generation, of kernels and the like, of device memory or of compile times, recognised
/// by its header (columns in any order; those that a schema may have besides are empty when they are missing). A bad
/// cell of a job makes the row defective (to be reported as skipped).
/// Errors: Fault::kData for another header, a value that is not a positive number, an id given twice, and as
/// read_csv.
std::vector<Row> load_validation(const std::filesystem::path& path);
std::vector<Row> parse_validation(std::string_view text, std::string name);

/// A shape cell taken apart: "8192x8192x8192" and "784-120-84-10" give `sizes`; "M4096 K2048", "seq 64" give `named`;
/// "8 GiB" gives `bytes`; the rest are `words`.
struct Shape {
  std::vector<double> sizes;
  std::map<std::string, double> named;
  std::optional<double> bytes;
  std::vector<std::string> words;
};
Shape parse_shape(std::string_view text);

}  // namespace validation
