#include "trnsim/graphs/graph_model.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <charconv>

#include "analysis/host/stack.h"
#include "base/error.h"
#include "base/files.h"
#include "base/hash.h"
#include "base/text.h"
#include "frontend/hlo/export.h"
#include "frontend/hlo/file.h"
#include "frontend/hlo/graph.h"
#include "frontend/hlo/proto.h"
#include "frontend/hlo/text.h"
#include "frontend/stablehlo/reader.h"
#include "workloads/step/step_graph.h"

namespace trnsim {
namespace {

namespace fs = std::filesystem;

/// An attribute of the module: operators of the framework that recorded it, which its host traces in each step.
constexpr const char* kTracedOps = "trnsim.traced_ops";
constexpr std::int64_t kInstanceCores = 32;  // of a trn1.32xlarge, the default for more than two

bool is_mlir(std::string name) {
  if (name.ends_with(".gz")) name.resize(name.size() - 3);
  return name.ends_with(".mlir");
}

}  // namespace

bool is_graph_file(const fs::path& path) {
  constexpr std::array<std::string_view, 3> kEndings{".hlo", ".pb", ".mlir"};
  std::string name = path.filename().string();
  if (name.ends_with(".gz")) name.resize(name.size() - 3);
  for (const std::string_view ending : kEndings)
    if (name.ends_with(ending)) return true;
  return false;
}

frontend::Module load_graph(const fs::path& path) {
  std::string bytes = base::read_file(path);
  if (!is_mlir(path.filename().string()))
    return frontend::hlo::graph_of(frontend::hlo::read_bytes(bytes, path.string()), path.string());
  if (frontend::hlo::is_zipped(bytes)) bytes = frontend::hlo::unzipped(bytes, path.string());
  return frontend::read_stablehlo(bytes, path.string());
}

frontend::LowerOptions as_compiled(std::optional<runtime::Dtype> operand) {
  return {.operand = operand, .most_instructions = analysis::load_stack("torch-xla").compile_instructions.value};
}

GraphModel::GraphModel(std::string file, frontend::Module module)
    : Model{{.family = "graph", .sizes = {.layers = 1}, .given = true}},
      file_{std::move(file)},
      module_{std::move(module)},
      lowerable_{frontend::lowerable(module_, as_compiled())},
      lowered_{frontend::lower(lowerable_, as_compiled())},
      hash_{base::hash64(base::read_file(file_))} {}

workloads::StepGraph GraphModel::step(const workloads::Step& step) const {
  const runtime::Dtype operand = step.plan.numerics.operand;
  if (operand == runtime::Dtype::kFp32) return {.graph = lowered_.graph, .zero = {}};
  return {.graph = frontend::lower(lowerable_, as_compiled(operand)).graph, .zero = {}};  // as the compiler casts
}

double GraphModel::flops(const workloads::Step&) const { return lowered_.flops * static_cast<double>(lowered_.ranks); }

workloads::FrameworkOps GraphModel::traced_ops(const workloads::Step&) const {
  const auto traced = module_.extras.find(kTracedOps);
  if (traced == module_.extras.end()) return {.forward = static_cast<double>(lowered_.operations)};
  double count = 0;
  const std::string& text = traced->second;
  if (std::from_chars(text.data(), text.data() + text.size(), count).ec != std::errc{} || count < 0)
    throw base::Error{base::Fault::kProgram, file_, fmt::format("{} = \"{}\" is not a count", kTracedOps, text),
                      "give the operators that the framework traces for a step"};
  return {.forward = count};
}

std::optional<workloads::Problem> GraphModel::refuses(const workloads::Plan& plan) const {
  if (plan.tensor == 1 && plan.pipeline == 1 && plan.micro_batch == 1 && plan.micro_batches == 1 && !plan.zero1)
    return std::nullopt;
  return workloads::Problem{file_, "is a program, whose plan is part of it", "change the program instead"};
}

std::string GraphModel::config_json() const {
  const auto given = module_.extras.find(std::string{frontend::kRewritesKey});
  const std::string rewrites =
      given == module_.extras.end() ? "" : fmt::format(", \"rewrites\": \"{}\"", given->second);
  return fmt::format("{{\"graph\": \"{}\", \"hash\": \"{:016x}\"{}}}\n", fs::path{file_}.filename().string(), hash_,
                     rewrites);
}

std::shared_ptr<const GraphModel> GraphModel::with_rewrites(std::string_view switches) const {
  frontend::Module module = module_;
  std::string& all = module.extras[std::string{frontend::kRewritesKey}];
  all += (all.empty() ? "" : ",") + std::string{switches};
  auto out = std::make_shared<const GraphModel>(file_, std::move(module));
  const auto made = [](const GraphModel& of, std::string_view name) {
    const auto note = std::ranges::find(of.lowered().rewrites, name, &frontend::RewriteNote::name);
    return note == of.lowered().rewrites.end() ? 0 : note->count;
  };
  for (const std::string_view item : base::split(switches, ','))
    if (made(*this, item.substr(1)) == made(*out, item.substr(1)))
      throw base::Error{base::Fault::kUsage, "`passes`",
                        fmt::format("'{}' has no effect on {}", item, fs::path{file_}.filename().string()),
                        item.starts_with('-') ? "leave it out: it finds nothing in the program"
                                              : "leave it out: it is on already, or finds nothing"};
  return out;
}

void GraphModel::require_valid(std::string_view) const {}

workloads::ModelPtr GraphModel::with(const workloads::ModelChange&) const { return shared_from_this(); }

namespace {

/// The steps whose numbers are not computed, if there are any. A program that only time is asked of leaves out what
/// numbers alone need, such as the smaller one of two branches: the same program may well be computed.
std::string uncomputed(const GraphModel& model) {
  if (model.lowered().timed_only.empty()) return "";
  std::vector<std::string> left = model.lowered().timed_only;
  bool computes = false;
  try {
    const std::vector<std::string> kept = frontend::lower(model.module(), {.computed = true}).timed_only;
    computes = kept.empty();
    if (!computes) left = kept;
  } catch (const base::Error&) {  // it cannot be lowered in that way
  }
  const char* told = computes ? "its time leaves out what only its numbers need" : "can be timed, but not computed";
  return fmt::format("; {}: {}{}", told, left.front(),
                     left.size() > 1 ? fmt::format(", and {} more such", left.size() - 1) : "");
}

}  // namespace

std::shared_ptr<const GraphModel> load_graph_model(const fs::path& path) {
  return std::make_shared<const GraphModel>(path.string(), load_graph(path));
}

std::string hlo_of(const runtime::Graph& graph, const std::string& name, bool proto) {
  const frontend::hlo::Module module = frontend::hlo::module_of(graph, name);
  return proto ? frontend::hlo::write_proto(module) : frontend::hlo::write_text(module);
}

std::vector<CachedProgram> cached_programs(const fs::path& folder) {
  const std::string fix = workloads::model_folder_fix(folder);
  std::vector<CachedProgram> out;
  for (const auto& module : fix.empty() ? frontend::hlo::modules_of(folder) : frontend::hlo::modules_of(folder, fix))
    out.push_back({module.file, module.name, fmt::format("{}", fmt::join(module.flags, " "))});
  return out;
}

workloads::Workload graph_workload(const fs::path& path) {
  const auto model = load_graph_model(path);
  workloads::Workload out;
  out.name = path.filename().string();
  out.text = fmt::format("{} of {}", base::counted(static_cast<std::int64_t>(model->lowered().operations), "operation"),
                         model->module().name);
  if (model->module().undivided && model->ranks() > 1)
    out.text += fmt::format(
        "; its shardings were not applied by a partitioner: each of {} cores computes whole tensors", model->ranks());
  out.text += uncomputed(*model);
  out.model = path.string();
  out.program = model;
  out.file = path.string();
  out.options = {{"mode", "timed"},
                 {"numerics", "fp32"},
                 {"max_length", "1"},
                 {"max_steps", "1000"},
                 {"per_device_train_batch_size", "1"},
                 {"suggestions", "0"},
                 {"nproc_per_node", std::to_string(std::min<std::int64_t>(model->ranks(), kInstanceCores))},
                 {"nnodes", std::to_string((model->ranks() + kInstanceCores - 1) / kInstanceCores)},
                 {"instance_type", model->ranks() > 2 ? "trn1.32xlarge" : "trn1.2xlarge"}};
  return out;
}

workloads::Workload workload_of(const std::string& name) {
  return is_graph_file(name) ? graph_workload(name) : workloads::load_workload(name);
}

}  // namespace trnsim
