// Published measurements of real machines: the four table schemas that `trnsim validate` reads.
#pragma once

#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

namespace analysis {

/// A cell that says yes, no, or that nobody published it.
enum class Known { kNo, kYes, kUnknown };

/// A row of the training schema: a whole training, inference or generation job. A cell that is empty or `unknown` is
/// absent here; who predicts the row states what was assumed instead.
struct TrainingRow {
  std::string model;
  std::optional<int> layers, hidden, heads, kv_heads, ffn, vocab, seq_len;
  std::string instance;
  std::optional<int> nodes, cores, dp, tp, pp;
  Known zero1 = Known::kUnknown, seq_parallel = Known::kUnknown;
  std::string recompute;  // "none", "selective", "full" or "unknown"
  std::optional<int> micro_batch, grad_accum;
  std::string weights, optimizer_state, optimizer, stack;
  std::optional<int> releases;
  std::optional<int> lora_rank;  // of a table of memory
  std::string verdict;           // "fits", "does not fit"
};

/// A row of the micro schema: one kernel, copy, launch or collective.
struct MicroRow {
  std::string what, shape, dtype;
  std::optional<int> cores;
  std::string instance;
  std::optional<int> seq_len;  // of a table of compile times
  Known cold = Known::kUnknown;
};

struct Row {
  std::string id, kind;
  double published = 0, low = 0, high = 0;  // in `metric`; micro rows: low = high = published
  std::string metric;                       // "samples/s", "ms", "TFLOPS", ...
  std::string source, notes;
  int line = 0;
  std::string defect;  // why the row cannot be predicted, when a cell of it is not what its column wants
  std::variant<TrainingRow, MicroRow> job;
};

/// Reads a table of training or generation, of kernels and the like, of device memory or of compile times, recognised
/// by its header (columns in any order). A bad cell of a job makes the row defective (to be reported as skipped).
/// Errors: Fault::kData for another header, a value that is not a positive number, an id given twice, and what read_csv
/// refuses.
std::vector<Row> load_validation(const std::filesystem::path& path);
std::vector<Row> parse_validation(std::string_view text, std::string name);

/// A shape cell taken apart: "8192x8192x8192" and "784-120-84-10" give `sizes`; "M4096 K2048", "seq 64" give `named`;
/// "8 GiB" gives `bytes`; what remains are `words`.
struct Shape {
  std::vector<double> sizes;
  std::map<std::string, double> named;
  std::optional<double> bytes;
  std::vector<std::string> words;
};
Shape parse_shape(std::string_view text);

}  // namespace analysis
