// The predictions of `trnsim validate`: the kinds of published measurements that are modelled, and how.
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "analysis/host/stack.h"
#include "base/param_file.h"
#include "runtime/compiler/program_cache.h"
#include "validation/report/report.h"
#include "workloads/models/config.h"

namespace validation {

class Projections;

/// Shared by the predictions of one table.
struct PredictContext {
  base::ParamFile machine;       // the instance that --instance_type and --set describe
  std::vector<std::string> set;  // the changes of --set, for rows that name another instance
  bool exact = false;            // simulate every core and every call
  int host_threads = 0;
  std::vector<analysis::StackChange> stack_changes{};  // what-ifs on numbers of the software stacks
  std::shared_ptr<runtime::ProgramCache> programs{};   // where compiled programs are kept; none: nowhere

  std::shared_ptr<Projections> projections{};  // known ones; none: each is made
  bool in_child = true;                        // programs are simulated in a process of their own

  analysis::Stack stack(std::string_view name) const { return analysis::load_stack(name, stack_changes); }
};

/// Kinds that nothing models are skipped with a reason.
Prediction predict(const Row& row, const PredictContext& context);

/// Kinds "launch" and "host": the host alone (analysis/host/host_model.h).
Prediction predict_launch(const Row& row, const PredictContext& context);
Prediction predict_host(const Row& row, const PredictContext& context);

/// Kind "collective": the row's own instances, with changes by --set; a benchmark that launches one at a time.
Prediction predict_collective(const Row& row, const PredictContext& context);

/// Kinds "train" and "infer"; predict_decoder() is for a model that splits.
Prediction predict_train(const Row& row, const PredictContext& context);
Prediction predict_decoder(const Row& row, const workloads::ModelPtr& model, std::vector<std::string> assumed,
                           const PredictContext& context);
Prediction predict_infer(const Row& row, const PredictContext& context);

/// Kind "generate": tokens of a decoder, by the programs of `trnsim generate`.
Prediction predict_generate(const Row& row, const PredictContext& context);

/// Kind "device memory": the content of a core's HBM in a decoder's training, adapters of LoRA too.
Prediction predict_device_memory(const Row& row, const PredictContext& context);
/// Kind "compile": seconds of a graph's first compilation.
Prediction predict_compile(const Row& row, const PredictContext& context);

/// Kinds "gemm", "memory", "kernel", "instruction": the program that the row describes, simulated.
Prediction predict_gemm(const Row& row, const PredictContext& context);
Prediction predict_memory(const Row& row, const PredictContext& context);
Prediction predict_kernel(const Row& row, const PredictContext& context);
Prediction predict_instruction(const Row& row, const PredictContext& context);

/// Kind "nki": a kernel in a Python script. Skipped where the script, or the Python module, is not there.
Prediction predict_nki(const Row& row, const PredictContext& context);

}  // namespace validation
