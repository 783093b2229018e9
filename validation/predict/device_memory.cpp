// Rows of kind "device memory": the content of a core's HBM while a decoder is trained, with all weights or by
// adapters.
#include <fmt/format.h>

#include <algorithm>

#include "base/text.h"
#include "hw/params.h"
#include "trnsim/project/compiler_memory.h"
#include "trnsim/project/stages.h"
#include "validation/predict/model_of_row.h"
#include "validation/predict/predict_row.h"
#include "workloads/models/model.h"

namespace validation {
namespace {

constexpr double kGiB = 1 << 30;

/// Parameters of one core beyond the real model's: an output layer that the real one has not.
double extra_head_parameters(const TrainingRow& row, const workloads::ModelPtr& model) {
  if (row.tied != Known::kYes || (model->decoder() && model->decoder()->head.tied)) return 0;
  const workloads::Sizes s = model->sizes();
  return static_cast<double>(s.vocabulary * s.hidden) / row.tp.value_or(1);
}

/// Elements of one core's adapters, on the seven linear layers of each block. Column-parallel layers share the second
/// factor, row-parallel ones the first (neuronx-distributed, modules/lora).
double adapter_elements(const workloads::Sizes& s, double rank, double cores) {
  const auto h = static_cast<double>(s.hidden), ffn = static_cast<double>(s.ffn),
             layers = static_cast<double>(s.layers);
  const double head = static_cast<double>(s.head > 0 ? s.head : s.hidden / s.heads);
  const double q = head * static_cast<double>(s.heads), kv = head * static_cast<double>(s.kv_heads);
  const double columns = (h + q / cores) + 2 * (h + kv / cores) + 2 * (h + ffn / cores);
  const double rows = (q / cores + h) + (ffn / cores + h);
  return layers * rank * (columns + rows);
}

/// The row's job, a micro-batch in its graph.
trnsim::Job job_of(const TrainingRow& r, workloads::ModelPtr model, const PredictContext& context,
                   std::vector<std::string>& assumed) {
  trnsim::Job job{.machine = machine_of_job(r, context, assumed),
                  .model = std::move(model),
                  .step = {},
                  .sizes = {},
                  .stack_changes = context.stack_changes,
                  .programs = context.programs};
  job.step = {.plan = {.data = static_cast<std::uint32_t>(r.dp.value_or(1)),
                       .micro_batch = r.micro_batch.value_or(1),
                       .numerics = runtime::numerics("bf16+fp32-optimizer")},
              .kind = {.length = *r.seq_len, .training = true},
              .optimizer = {.decay_all = false, .max_grad_norm = 1}};
  job.step.plan.tensor = r.tp.value_or(1);
  job.step.plan.sequence = job.step.plan.tensor > 1;
  job.step.plan.master_weights = !r.lora_rank;
  job.step.plan.recompute = runtime::recompute_of(r.recompute == "unknown" ? "none" : r.recompute);
  return job;
}

/// The kinds of `from` that `names` lists.
trnsim::Memory only(const trnsim::Memory& from, std::initializer_list<const char*> names) {
  trnsim::Memory out{};
  out.capacity = from.capacity;
  for (const char* name : names)
    if (const auto found = from.by_kind.find(name); found != from.by_kind.end()) out.add(name, found->second);
  return out;
}

/// Bytes of `kind` without `elements` of `size` bytes.
void remove(trnsim::Memory& memory, const std::string& kind, double elements, double size) {
  auto& bytes = memory.by_kind[kind];
  const auto less = std::min(bytes, static_cast<std::uint64_t>(elements * size));
  bytes -= less, memory.total -= less;
}

constexpr std::initializer_list<const char*> kOfTheProgram = {"weights", "inputs", "outputs", "activations",
                                                              "workspace"};

/// Frozen weights have neither gradient nor state; adapters have both.
trnsim::Memory of_adapters(const trnsim::Job& job, const trnsim::Memory& program, double elements) {
  const auto bytes = [&](double size) { return static_cast<std::uint64_t>(elements * size); };
  const runtime::Numerics& n = job.step.plan.numerics;
  trnsim::Memory memory = only(program, kOfTheProgram);
  memory.add("weights", bytes(isa::size_of(n.weight)));
  memory.add("gradients", bytes(isa::size_of(n.gradient)));
  memory.add("optimizer", bytes(2 * isa::size_of(n.optimizer)));
  trnsim::add_software(job, 0, memory);
  return memory;
}

/// The graph of a micro-step alone, which the framework compiles before the update's: weights, and fp32 gradients
/// before and after it.
trnsim::Memory of_micro_step(const trnsim::Job& job, const trnsim::Memory& whole) {
  trnsim::Memory memory = only(whole, kOfTheProgram);
  trnsim::Job alone = job;
  alone.step.plan.master_weights = false;
  const auto gradients =
      whole.by_kind.at("gradients") / static_cast<std::uint64_t>(isa::size_of(job.step.plan.numerics.gradient));
  memory.add("gradients", gradients * 2 * 4);
  trnsim::add_software(alone, 0, memory);
  return memory;
}

std::string parts_text(const trnsim::Memory& memory) {
  std::string out;
  for (const auto& [name, bytes] : trnsim::compiler_parts(memory))
    out += fmt::format("{}{} {:.2f}", out.empty() ? "" : ", ", name, static_cast<double>(bytes) / kGiB);
  return out + " GiB";
}

}  // namespace

Prediction predict_device_memory(const Row& row, const PredictContext& context) {
  const auto& r = std::get<TrainingRow>(row.job);
  std::vector<std::string> assumed;
  const auto found = model_of_row(row, assumed);
  if (const auto* why = std::get_if<std::string>(&found)) return Prediction::skip(*why);
  const auto& model = std::get<workloads::ModelPtr>(found);
  if (!model->splits() || !r.seq_len) return Prediction::skip(fmt::format("memory of '{}' is not modelled", r.model));
  const trnsim::Job job = job_of(r, model, context, assumed);
  trnsim::SharedBlocks shared{job.machine.target()};
  trnsim::Memory program = trnsim::compile_stages(job, shared).memory;
  const double less = extra_head_parameters(r, model);
  remove(program, "weights", less, isa::size_of(job.step.plan.numerics.weight));
  remove(program, "gradients", less, isa::size_of(job.step.plan.numerics.gradient));
  remove(program, "optimizer", less, 12);
  trnsim::Memory memory = only(program, kOfTheProgram);
  if (r.lora_rank) {
    memory = of_adapters(job, program, adapter_elements(model->sizes(), *r.lora_rank, r.tp.value_or(1)));
  } else {
    memory.add("gradients", program.by_kind.at("gradients"));
    memory.add("optimizer", program.by_kind.at("optimizer"));
    trnsim::add_software(job, 0, memory);
    const trnsim::Memory first = of_micro_step(job, program);
    if (!first.fits()) {
      assumed.push_back("the graph of a micro-step is refused before the update's is compiled");
      memory = first;
    }
  }
  const std::string_view said = trnsim::verdict(memory);
  const bool right = r.verdict.empty() || (r.verdict == "does not fit") == (said == "does not fit");
  assumed.push_back(fmt::format("verdict: {}{}", said, right ? "" : ", published: " + r.verdict));
  assumed.push_back(parts_text(memory));
  return in_row_metric(row, {.seconds = 1, .bytes = static_cast<double>(memory.total)}, std::move(assumed), {});
}

}  // namespace validation
