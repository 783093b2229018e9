// Jobs, projections and memory as tables for people.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "base/table.h"
#include "cli/output.h"
#include "trnsim/run/run.h"

namespace cli {

/// Time, samples/s and dollars; beside the published figures, with their errors, if it is that job.
base::Table job_table(const trnsim::RunResult& run, const analysis::Figures& figures);
/// Every figure of the model, the job, its plan and its cost.
base::Table figure_table(const analysis::Figures& figures);
/// For a job whose samples are padded to several lengths: each length, and the gain over one length and over
/// packing; empty for other jobs.
base::Table length_table(const trnsim::Job& job, const trnsim::Projection& projection);
base::Table length_plan_table(const trnsim::Job& job, const trnsim::Projection& projection);
std::string lengths_text(const trnsim::Job& job, const trnsim::Projection& projection, base::Format form);
base::Table engine_table(const trnsim::Projection& projection);
base::Table time_table(const trnsim::Projection& projection);
base::Table memory_table(const trnsim::Memory& memory);
/// memory_table(); for people the compiler's words for the same bytes are a table of their own.
std::string memory_text(const trnsim::Memory& memory, base::Format form);
/// The parts of the gain, and why the published one measures something else.
std::string gain_text(const trnsim::CompilerGain& gain, const workloads::Published& published);
base::Table compiler_table(const trnsim::CompilerGain& gain);

/// A column of pass_table(): the figures of a job with these passes.
struct PassColumn {
  base::Column column;
  std::function<base::Cell(const trnsim::Job&)> cell;
};
/// The step as given, with each pass switched to the opposite, and without any: time, memory, traffic, instructions,
/// then the columns `more`.
base::Table pass_table(const trnsim::Job& job, bool exact, const std::vector<PassColumn>& more = {});

/// Sentences in lines that fit the terminal, each with a newline.
std::string paragraph(const std::string& text);
/// The answer as labelled lines, with flags; without the changes that would help.
std::string answer_text(const trnsim::Answer& answer);
/// These changes, likewise; on a terminal as many as it shows whole between the texts `above` and `below`, or all with
/// tables.
std::string changes_text(const trnsim::Answer& answer, const std::string& above, const std::string& below,
                         const Tables& tables);
/// Every figure, with the published one of the same job beside it.
base::Table figures_with_published(const trnsim::RunResult& run, const analysis::Figures& figures);
/// "2 x trn1.32xlarge, 64 cores, TP 8, ..., bf16, stack torch-xla".
std::string setting_of(const trnsim::Job& job);
/// The plan as flags: "--tensor_parallel_size 8 --zero_1".
std::string plan_flags(const trnsim::Job& job);
/// "$1.234", "no price".
std::string dollars(const std::optional<double>& value);

}  // namespace cli
