// `trnsim compile WORKLOAD|FILE`: the program of a training step, of a generation or of a file, and the effect of each
// pass.
#include <fmt/format.h>

#include <memory>
#include <nlohmann/json.hpp>
#include <optional>

#include "base/error.h"
#include "base/files.h"
#include "base/table.h"
#include "cli/options.h"
#include "cli/output.h"
#include "cli/tables.h"
#include "cli/verbs.h"
#include "trnsim/generate/generation_time.h"
#include "trnsim/graphs/graph_model.h"
#include "trnsim/job/option_table.h"
#include "trnsim/project/inspect.h"
#include "trnsim/project/memory.h"
#include "trnsim/project/stages.h"
#include "trnsim/run/run.h"

namespace cli {
namespace {

struct CompileOptions {
  trnsim::Settings settings;
  std::string workload, emit, output, program;
  std::int64_t stage = 0;
  bool explain = false;
};

base::Table notes_table(const runtime::Compiled& compiled) {
  base::Table notes{{{"pass", ""}, {"count", ""}, {"what", "what it changed"}}};
  for (const runtime::PassNote& note : compiled.notes)
    notes.add_row({note.pass, static_cast<std::uint64_t>(note.count), note.text});
  return notes;
}

base::Table blocks_table(const runtime::Compiled& compiled) {
  base::Table table{{{"block", ""},
                     {"calls", ""},
                     {"instructions", ""},
                     {"matmul", "matmul GFLOPs"},
                     {"sbuf", "SBUF bytes per partition"}}};
  for (const trnsim::BlockFigures& block : trnsim::blocks_of(compiled))
    table.add_row({block.name, static_cast<std::int64_t>(block.calls), static_cast<std::int64_t>(block.instructions),
                   base::Cell{block.matmul_flops / 1e9, fmt::format("{:.3f}", block.matmul_flops / 1e9)},
                   static_cast<std::int64_t>(block.sbuf_bytes)});
  return table;
}

/// Tables one after the other, or one JSON document with each under its name.
std::string tables_text(const std::vector<std::pair<const char*, base::Table>>& tables, base::Format form) {
  auto whole = nlohmann::ordered_json::object();
  std::string out;
  for (const auto& [name, table] : tables) {
    const std::string text = table.render(form, columns());
    if (form == base::Format::kJson)
      whole[name] = nlohmann::ordered_json::parse(text);
    else
      out += (out.empty() ? "" : "\n") + text;
  }
  return form == base::Format::kJson ? whole.dump(2) + "\n" : out;
}

/// A stage of a training step, or one of the programs of a generation.
struct Asked {
  const trnsim::Job& job;
  std::int64_t stage = 0;
  std::optional<trnsim::GenerationProgram> generation{};

  runtime::Graph graph() const { return generation ? generation_graph(job, *generation) : stage_graph(job, stage); }
  runtime::Compiled compiled() const {
    return generation ? compile_generation(job, *generation) : compile_stage(job, stage);
  }
};

Asked asked(const CompileOptions& options, const trnsim::Job& job) {
  if (!options.program.empty()) trnsim::require_choice("--program", options.program, "prompt|token");
  const bool writes = writes_text(job);
  if (writes && options.stage != 0)
    throw base::Error{base::Fault::kUsage, "--stage", "a generation has no pipeline",
                      "leave it out, or give --program"};
  if (writes)
    return {.job = job,
            .generation =
                options.program == "prompt" ? trnsim::GenerationProgram::kPrompt : trnsim::GenerationProgram::kToken};
  if (!options.program.empty())
    throw base::Error{base::Fault::kUsage, "--program", "only a job that generates text has several programs",
                      "leave it out"};
  return {.job = job, .stage = options.stage};
}

std::string text_of(const CompileOptions& options, const trnsim::Job& job) {
  const base::Format form = base::parse_format(options.settings.output.format);
  const Asked program = asked(options, job);
  if (options.emit == "graph") return trnsim::graph_text(program.graph());
  if (options.emit == "hlo" || options.emit == "hlo-proto")
    return trnsim::hlo_of(program.graph(), options.workload, options.emit == "hlo-proto");
  const runtime::Compiled compiled = program.compiled();
  if (options.emit == "asm") return trnsim::assembler_text(compiled);
  const base::Table memory = memory_table(trnsim::memory_of(compiled.memory, job.machine));
  if (options.emit == "memory") return memory_text(trnsim::memory_of(compiled.memory, job.machine), form);
  if (!options.explain) return tables_text({{"blocks", blocks_table(compiled)}, {"memory", memory}}, form);
  return tables_text({{"passes", notes_table(compiled)}, {"effects", pass_table(job, options.settings.machine.exact)}},
                     form);
}

void compile(const CompileOptions& options) {
  base::parse_format(options.settings.output.format);
  if (!options.emit.empty()) trnsim::require_choice("--emit", options.emit, "asm|graph|hlo|hlo-proto|memory");
  const trnsim::Job job = projected_job(trnsim::workload_of(options.workload), options.settings);
  const std::string text = text_of(options, job);
  if (options.output.empty())
    print(text);
  else
    base::write_file(options.output, text);
}

}  // namespace

void add_compile(CLI::App& app) {
  auto options = std::make_shared<CompileOptions>();
  app.add_option("WORKLOAD", options->workload,
                 "name of a workload, or a workload file; or a program: .hlo, .pb, .mlir")
      ->required();
  app.add_option("--emit", options->emit,
                 "what to print: the program, the graph (also as HLO text or proto) or the memory plan")
      ->type_name("asm|graph|hlo|hlo-proto|memory");
  app.add_option("--output", options->output, "file for the output of --emit; default: stdout");
  app.add_option("--stage", options->stage, "stage of a pipeline, from 0")->capture_default_str();
  app.add_option("--program", options->program,
                 "of a job that generates text: what reads the prompts, or adds a token to long ones; default: token")
      ->type_name("prompt|token");
  app.add_flag("--explain", options->explain, "print what each pass changed, and the time and the bytes that it saved");
  act_with_settings(app, "compile", options, compile);
}

}  // namespace cli
