#include "tests/fuzz/targets.h"

#include <algorithm>
#include <array>
#include <fstream>
#include <string>

#include "analysis/cost/prices.h"
#include "analysis/host/stack.h"
#include "analysis/neuron_tools/device_view.h"
#include "analysis/neuron_tools/neuron_profile.h"
#include "analysis/profile/views.h"
#include "analysis/record/record.h"
#include "analysis/record/result.h"
#include "analysis/record/sqlite.h"
#include "analysis/report/report.h"
#include "analysis/sweep/sweep.h"
#include "analysis/trace/trace.h"
#include "base/error.h"
#include "base/files.h"
#include "frontend/hlo/graph.h"
#include "frontend/hlo/proto.h"
#include "frontend/hlo/text.h"
#include "frontend/interpret/interpreter.h"
#include "frontend/interpret/npz.h"
#include "frontend/ops/refusals.h"
#include "frontend/stablehlo/reader.h"
#include "hw/params.h"
#include "isa/asm.h"
#include "isa/check.h"
#include "runtime/compiler/program_cache.h"
#include "tests/analysis/recorded.h"
#include "validation/rows/profile_rows.h"
#include "validation/rows/rows.h"
#include "workloads/checkpoints/adapter.h"
#include "workloads/checkpoints/llama2c.h"
#include "workloads/checkpoints/safetensors.h"
#include "workloads/checkpoints/shards.h"
#include "workloads/data/corpus.h"
#include "workloads/data/dataset.h"
#include "workloads/data/image_files.h"
#include "workloads/data/pictures.h"
#include "workloads/jobs/workload.h"
#include "workloads/models/config.h"
#include "workloads/models/model.h"
#include "workloads/models/weights.h"
#include "workloads/text/tokenizer.h"
#include "workloads/training/progress.h"
#include "workloads/training/trainer_state.h"

namespace fuzz {
namespace {

namespace fs = std::filesystem;
using Bytes = std::string_view;

fs::path put(const fs::path& path, Bytes bytes) {
  std::ofstream{path, std::ios::binary} << bytes;
  return path;
}

/// The first byte of an input, as a choice among `ways`.
unsigned choice(Bytes& bytes, unsigned ways) {
  if (bytes.empty()) return 0;
  const auto first = static_cast<unsigned char>(bytes.front());
  bytes.remove_prefix(1);
  return first % ways;
}

void use(const workloads::Tokenizer& tokenizer) {
  for (const Bytes text :
       {"", "hello world", "I feel  happy, don't I? [CLS] <s> \xF0\x9F\x98\x80 \xe4\xb8\xad\n\t x"}) {
    workloads::Encoding encoding = tokenizer.encode(text, 16);
    tokenizer.decode(encoding.ids, true);
    tokenizer.tokens(encoding.ids);
    tokenizer.pad(encoding, 20);
  }
}

template <const char* kName>
void tokenizer(Bytes bytes, const fs::path& scratch) {
  use(*workloads::load_tokenizer(put(scratch / kName, bytes)));
}
constexpr char kTokenizerJson[] = "tokenizer.json", kVocab[] = "vocab.txt", kPieces[] = "tokenizer.model",
               kLlama2c[] = "tokenizer.bin";

void safetensors(Bytes bytes, const fs::path& scratch) {
  const auto checkpoint = workloads::Checkpoint::open(put(scratch / "model.safetensors", bytes));
  for (const std::string& name : checkpoint.names())
    if (workloads::is_floating(checkpoint.info(name).type)) checkpoint.floats(name);
}

void safetensors_index(Bytes bytes, const fs::path& scratch) {
  workloads::write_safetensors(scratch / "a.safetensors", {workloads::float_tensor("x", {2}, {1, 2})});
  put(scratch / "model.safetensors.index.json", bytes);
  const auto checkpoint = workloads::Checkpoint::open(scratch);
  for (const std::string& name : checkpoint.names()) checkpoint.info(name);
}

void checkpoint(Bytes bytes, const fs::path& scratch) {
  const workloads::SafetensorsFile file{put(scratch / "state.safetensors", bytes)};
  workloads::TrainProgress::from_text(file.metadata(), "checkpoint");
  file.require_whole();
}

void shards(Bytes bytes, const fs::path& scratch) {
  put(scratch / "shards.json", bytes);
  workloads::read_shard_index(scratch);
}

void config(Bytes bytes, const fs::path& scratch) {
  const workloads::ModelPtr model = workloads::read_config(put(scratch / "config.json", bytes));
  static_cast<void>(model->config_json());
  workloads::parameter_count(model->weights());
}

/// Configuration and factors of an adapter, between them a byte of zero.
void adapter(Bytes bytes, const fs::path& scratch) {
  static const workloads::ModelPtr base = workloads::read_config(fs::path{TRNSIM_TEST_DIR} / "golden/llama_tiny");
  const std::size_t end = std::min(bytes.find('\0'), bytes.size());
  put(scratch / "adapter_config.json", bytes.substr(0, end));
  put(scratch / "adapter_model.safetensors", bytes.substr(std::min(end + 1, bytes.size())));
  const workloads::ModelPtr model = base->with_lora(workloads::read_adapter_config(scratch));
  workloads::Weights weights = workloads::initial_weights(model, 1);
  workloads::load_adapter(scratch, model, weights);
}

void picture(Bytes bytes, const fs::path& scratch) {
  const workloads::Picture picture = workloads::read_picture(put(scratch / "x.png", bytes));
  workloads::resized(picture, 8, 8);
}

/// MNIST's two files, the second after the first 100 bytes, or a batch of CIFAR-10.
void images(Bytes bytes, const fs::path& scratch) {
  if (choice(bytes, 2) == 0) {
    const std::size_t end = std::min<std::size_t>(100, bytes.size());
    workloads::read_idx(put(scratch / "x-images-idx3-ubyte", bytes.substr(0, end)),
                        put(scratch / "x-labels-idx1-ubyte", bytes.substr(end)));
  } else {
    workloads::read_cifar10({put(scratch / "data_batch_1.bin", bytes)});
  }
}

void profile(Bytes bytes, const fs::path& scratch) {
  const auto read = analysis::read_neuron_profile(put(scratch / "profile.json", bytes));
  const auto differences = analysis::compare(recorded::record(), read, "profile.json");
  analysis::difference_table(differences, 20);
  validation::profile_rows(differences);
}

void trainer_state(Bytes bytes, const fs::path&) { workloads::trainer_state_of(std::string{bytes}, "state"); }

void llama2c(Bytes bytes, const fs::path& scratch) { workloads::read_llama2c(put(scratch / "model.bin", bytes)); }

void dataset(Bytes bytes, const fs::path& scratch) {
  constexpr std::array kNames = {"d.csv", "d.tsv", "d.jsonl", "d.txt", "d.conll"};
  const unsigned how = choice(bytes, 4 * kNames.size());
  workloads::ReadOptions options;
  options.strict = (how & 1) != 0, options.backslash_escapes = (how & 2) != 0;
  workloads::describe_problems(workloads::read_dataset(put(scratch / kNames.at(how / 4), bytes), options));
}

void corpus(Bytes bytes, const fs::path& scratch) {
  const unsigned how = choice(bytes, 4);
  workloads::CorpusOptions options;
  options.strict = (how & 2) != 0;
  workloads::describe_problems(workloads::read_corpus(put(scratch / (how & 1 ? "c.jsonl" : "c.txt"), bytes), options));
}

void toml(Bytes bytes, const fs::path& scratch) {
  const unsigned kind = choice(bytes, 5);
  const fs::path path = put(scratch / "x.toml", bytes);
  if (kind == 0) base::ParamFile::parse(hw::load_machine(path.string()).toml, "again");
  if (kind == 1) analysis::load_stack(base::ParamFile::load(path));
  if (kind == 2) workloads::load_workload(path.string());
  if (kind == 3) analysis::design_points(analysis::load_sweep(path));
  if (kind == 4) analysis::load_prices(base::ParamFile::load(path));
}

void assembler(Bytes bytes, const fs::path&) {
  static const isa::Target target = hw::load_machine("trn1.2xlarge").target();
  const isa::Program program = isa::parse_program(bytes, "fuzz");
  const std::string text = isa::print(program);
  base::ensure(isa::print(isa::parse_program(text, "again")) == text, "asm", "reads another program than it printed");
  isa::check(program, target);
}

void validation_table(Bytes bytes, const fs::path&) { validation::parse_validation(bytes, "v.csv"); }

void setting(Bytes bytes, const fs::path&) {
  const unsigned kind = choice(bytes, 4);
  if (kind == 0) {
    analysis::SweepSpec spec;
    spec.axes.push_back(analysis::parse_axis(bytes));
    analysis::design_points(spec);
  }
  if (kind == 1) analysis::parse_condition(bytes);
  if (kind == 2) hw::load_machine("trn1.2xlarge", std::array{std::string{bytes}});
  if (kind == 3) validation::parse_shape(bytes);
}

void use_record(const fs::path& scratch) {
  const analysis::Record record = analysis::read_record(scratch);
  analysis::summary_table(record).render(base::Format::kTable);
  for (const Bytes by : {"op", "part", "source", "layer", "engine", "opcode", "phase", "block", "collective"})
    analysis::table_by(by, record).render(base::Format::kTable);
  analysis::difference_table(analysis::compare(record, record), 20);
  analysis::write_trace(record, scratch / "trace.json", "json", {});
}

const std::string& good_record(const fs::path& scratch) {
  static const std::string kBytes = [&] {
    analysis::write_record(scratch, recorded::record());
    return base::read_file(scratch / analysis::kRecordFile);
  }();
  return kBytes;
}

/// Patches of a good record: three bytes of place, one of content.
void record(Bytes bytes, const fs::path& scratch) {
  std::string file = good_record(scratch);
  for (; bytes.size() >= 4; bytes.remove_prefix(4)) {
    const auto at = [&](int i) { return static_cast<std::size_t>(static_cast<unsigned char>(bytes[i])); };
    file[(at(0) | at(1) << 8 | at(2) << 16) % file.size()] = bytes[3];
  }
  put(scratch / analysis::kRecordFile, file);
  use_record(scratch);
}

/// The bytes are SQL that is done to a good record, such as "update events set lane=255".
void record_cells(Bytes bytes, const fs::path& scratch) {
  put(scratch / analysis::kRecordFile, good_record(scratch));
  try {
    analysis::Database{scratch / analysis::kRecordFile, analysis::Database::Mode::kUpdate}.execute(std::string{bytes});
  } catch (const base::Error&) {
    return;  // no SQL
  }
  use_record(scratch);
}

void result(Bytes bytes, const fs::path& scratch) {
  const std::size_t end = std::min(bytes.find('\0'), bytes.size());
  put(scratch / "result.json", bytes.substr(0, end));
  put(scratch / "steps.jsonl", bytes.substr(std::min(end + 1, bytes.size())));
  put(scratch / analysis::kRecordFile, good_record(scratch));
  const analysis::Figures figures = analysis::read_result(scratch);
  analysis::compare_jobs(figures, figures);
  const std::array runs{analysis::load_report_run(scratch, analysis::load_prices(Bytes{}), 0.5)};
  analysis::report_html(runs);
  analysis::report_markdown(runs);
}

/// The program takes any bytes.
void npz(Bytes bytes, const fs::path& scratch) {
  static const trnsim::frontend::Module kModule = trnsim::frontend::hlo::graph_of(
      trnsim::frontend::hlo::read_text("HloModule m\nENTRY e {\nROOT x = u8[64] parameter(0)\n}\n", "m"), "m");
  trnsim::frontend::inputs_from(put(scratch / "in.npz", bytes), kModule);
}

void program(Bytes bytes, const fs::path&) { runtime::read_compiled(bytes, "fuzz"); }

/// Whether it takes the reference a moment only.
bool is_small(const trnsim::frontend::Module& module) {
  constexpr std::int64_t kMost = 4096;
  for (const auto& function : module.functions) {
    for (const auto& type : function.values)
      if (trnsim::frontend::element_count(type.dims) > kMost) return false;
    for (const auto& node : function.nodes)
      for (const auto& [name, value] : node.attributes.entries())
        if (const auto* numbers = std::get_if<trnsim::frontend::Ints>(&value))
          if (std::ranges::any_of(*numbers, [](std::int64_t x) { return x > kMost; })) return false;
  }
  return true;
}

void stablehlo(Bytes bytes, const fs::path&) {
  for (const auto& program : trnsim::frontend::split_programs(bytes)) {
    const auto module = trnsim::frontend::read_stablehlo(program.text, "fuzz", program.line);
    trnsim::frontend::refusals(module, 10);
    if (!is_small(module)) continue;
    std::vector<trnsim::frontend::Value> arguments;
    for (const auto& type : module.entry_function().parameter_types())
      if (type.is_tensor()) arguments.push_back(trnsim::frontend::zeros(type));
    trnsim::frontend::Interpreter{module, {}, {.nodes = 5000}}.run(module.entry, std::move(arguments));
  }
}

/// The module is written and read again, which must give the same one.
void hlo_text(Bytes bytes, const fs::path&) {
  using namespace trnsim::frontend::hlo;
  const Module module = read_text(bytes, "input");
  base::ensure(read_text(write_text(module), "written") == module, "hlo", "text changes on its way");
}

void hlo_proto(Bytes bytes, const fs::path&) {
  using namespace trnsim::frontend::hlo;
  const Module module = read_proto(bytes, "input");
  base::ensure(read_proto(write_proto(module), "written") == module, "hlo", "the proto changes on its way");
}

constexpr std::array kTargets = {
    Target{"adapter", adapter},
    Target{"asm", assembler},
    Target{"checkpoint", checkpoint},
    Target{"config", config},
    Target{"corpus", corpus},
    Target{"dataset", dataset},
    Target{"hlo_proto", hlo_proto},
    Target{"hlo_text", hlo_text},
    Target{"images", images},
    Target{"llama2c", llama2c},
    Target{"npz", npz},
    Target{"picture", picture},
    Target{"profile", profile},
    Target{"program", program},
    Target{"record", record},
    Target{"record_cells", record_cells},
    Target{"result", result},
    Target{"safetensors", safetensors},
    Target{"safetensors_index", safetensors_index},
    Target{"sentencepiece", tokenizer<kPieces>},
    Target{"setting", setting},
    Target{"shards", shards},
    Target{"stablehlo", stablehlo},
    Target{"tokenizer_bin", tokenizer<kLlama2c>},
    Target{"tokenizer_json", tokenizer<kTokenizerJson>},
    Target{"toml", toml},
    Target{"trainer_state", trainer_state},
    Target{"validation", validation_table},
    Target{"vocab", tokenizer<kVocab>},
};

}  // namespace

std::span<const Target> targets() { return kTargets; }

std::string broken_promise(const Target& target, Bytes bytes, const fs::path& scratch) {
  try {
    target.read(bytes, scratch);
  } catch (const base::Error& error) {
    return error.fault() == base::Fault::kInternal ? error.what() : "";
  } catch (const std::exception& error) {
    return std::string{"no base::Error: "} + error.what();
  }
  return {};
}

}  // namespace fuzz
