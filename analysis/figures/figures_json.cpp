// Figures as result.json and back. Schema 1 had other names for some; they are read too.
#include <array>
#include <cmath>

#include "analysis/figures/figure_table.h"
#include "analysis/figures/json_fields.h"

namespace analysis {

template <>
struct JsonFields<ModelFigures> {
  using S = ModelFigures;
  static constexpr auto kList =
      std::tuple(Key{"family", &S::family}, Key{"layers", &S::layers}, Key{"hidden", &S::hidden},
                 Key{"parameters", &S::parameters}, Key{"trained_parameters", &S::trained_parameters});
};
template <>
struct JsonFields<MachineFigures> {
  using S = MachineFigures;
  static constexpr auto kList = std::tuple(Key{"instance_type", &S::instance_type}, Key{"hash", &S::hash});
};
template <>
struct JsonFields<ChangeFigures> {
  using S = ChangeFigures;
  static constexpr auto kList = std::tuple(Key{"settings", &S::settings}, Key{"text", &S::text},
                                           Key{"command", &S::command}, Key{"speed_up_percent", &S::speed_up_percent},
                                           Key{"train_runtime", &S::runtime}, Key{"dollars", &S::dollars});
};
template <>
struct JsonFields<AnswerFigures> {
  using S = AnswerFigures;
  static constexpr auto kList = std::tuple(
      Key{"time", &S::time}, Key{"dollars", &S::dollars}, Key{"memory", &S::memory}, Key{"bound_by", &S::bound_by},
      Key{"binds", &S::binds}, Key{"sure", &S::sure}, Key{"interrupted", &S::interrupted}, Key{"changes", &S::changes});
};
template <>
struct JsonFields<TimeItem> {
  static constexpr auto kList = std::tuple(Key{"name", &TimeItem::name}, Key{"seconds", &TimeItem::seconds});
};
template <>
struct JsonFields<TimeFigures> {
  using S = TimeFigures;
  static constexpr auto kList =
      std::tuple(Key{"overlapped", &S::overlapped}, Key{"stack", &S::stack},
                 Key{"train_runtime_elsewhere", &S::other_instances}, Key{"parts", &S::parts});
};
template <>
struct JsonFields<PlanFigures> {
  using S = PlanFigures;
  static constexpr auto kList =
      std::tuple(Key{"text", &S::text}, Key{"tensor", &S::tensor}, Key{"pipeline", &S::pipeline}, Key{"data", &S::data},
                 Key{"micro_batches", &S::micro_batches}, Key{"numerics", &S::numerics},
                 Key{"recorded_micro_batches", &S::recorded_micro_batches}, Key{"slowest_stage", &S::slowest_stage},
                 Key{"stage_seconds", &S::stage_seconds});
};
template <>
struct JsonFields<EngineFigures> {
  using S = EngineFigures;
  static constexpr auto kList =
      std::tuple(Key{"engine", &S::engine}, Key{"busy", &S::busy}, Key{"waiting", &S::waiting}, Key{"idle", &S::idle},
                 Key{"instructions", &S::instructions});
};
template <>
struct JsonFields<Resource> {
  static constexpr auto kList =
      std::tuple(Key{"name", &Resource::name}, Key{"busy", &Resource::busy}, Key{"waiting", &Resource::waiting});
};
template <>
struct JsonFields<HeldFigures> {
  using S = HeldFigures;
  static constexpr auto kList = std::tuple(Key{"name", &S::name}, Key{"bytes", &S::bytes}, Key{"count", &S::count});
};
template <>
struct JsonFields<MemoryFigures> {
  using S = MemoryFigures;
  static constexpr auto kList = std::tuple(Key{"compiler", &S::compiler}, Key{"verdict", &S::verdict},
                                           Key{"fullest", &S::fullest}, Rest{&S::kinds});
};
template <>
struct JsonFields<LengthFigures> {
  using S = LengthFigures;
  static constexpr auto kList =
      std::tuple(Key{"length", &S::length}, Key{"samples", &S::samples}, Key{"padding_percent", &S::padding_percent},
                 Key{"steps", &S::steps}, Key{"device_step_seconds", &S::device_step_seconds},
                 Key{"step_seconds", &S::step_seconds}, Key{"seconds", &S::seconds});
};
template <>
struct JsonFields<LengthPlanFigures> {
  using S = LengthPlanFigures;
  static constexpr auto kList =
      std::tuple(Key{"name", &S::name}, Key{"programs", &S::programs}, Key{"compile_seconds", &S::compile_seconds},
                 Key{"sequences", &S::sequences}, Key{"tokens", &S::tokens},
                 Key{"padding_percent", &S::padding_percent}, Key{"epoch_seconds", &S::epoch_seconds});
};
template <>
struct JsonFields<LengthsFigures> {
  static constexpr auto kList = std::tuple(Key{"of", &LengthsFigures::of}, Key{"plans", &LengthsFigures::plans});
};
template <>
struct JsonFields<EvaluationFigures> {
  using S = EvaluationFigures;
  static constexpr auto kList = std::tuple(Key{"split", &S::split}, Key{"epoch", &S::epoch}, Key{"loss", &S::loss},
                                           Key{"samples", &S::samples}, Rest{&S::scores});
};
template <>
struct JsonFields<isa::NumericEvents> {
  using S = isa::NumericEvents;
  static constexpr auto kList = std::tuple(Key{"overflowed", &S::overflowed}, Key{"out_of_range", &S::out_of_range},
                                           Key{"transposed", &S::transposed}, Key{"flushed", &S::flushed});
};
template <>
struct JsonFields<TrainingFigures> {
  using S = TrainingFigures;
  static constexpr auto kList = std::tuple(
      Key{"model", &S::model}, Key{"parameters", &S::parameters}, Key{"numerics", &S::numerics},
      Key{"dataset", &S::dataset}, Key{"synthetic", &S::synthetic}, Key{"steps", &S::steps},
      Key{"interrupted", &S::interrupted}, Key{"train_loss", &S::train_loss}, Key{"numeric_events", &S::numeric_events},
      Key{"simulated_step_seconds", &S::simulated_step_seconds}, Key{"host_seconds", &S::host_seconds},
      Key{"epochs", &S::epochs}, Key{"options", &S::options}, Rest{&S::scores});
};
template <>
struct JsonFields<TextFigures> {
  static constexpr auto kList = std::tuple(Key{"text", &TextFigures::text}, Key{"ids", &TextFigures::ids});
};
template <>
struct JsonFields<PublishedFigure> {
  using S = PublishedFigure;
  static constexpr auto kList =
      std::tuple(Key{"name", &S::name}, Key{"published", &S::published}, Key{"low", &S::low}, Key{"high", &S::high},
                 Key{"predicted", &S::predicted}, Key{"error_percent", &S::error_percent}, Key{"source", &S::source});
};
template <>
struct JsonFields<CaseFigures> {
  using S = CaseFigures;
  static constexpr auto kList =
      std::tuple(Key{"name", &S::name}, Key{"per_device_train_batch_size", &S::per_device_train_batch_size},
                 Key{"learning_rate", &S::learning_rate}, Key{"device_step_seconds", &S::device_step_seconds},
                 Key{"step_seconds", &S::step_seconds}, Key{"samples_per_second", &S::samples_per_second},
                 Key{"speed_up_percent", &S::speed_up_percent}, Key{"hbm_bytes", &S::hbm_bytes});
};
template <>
struct JsonFields<PublishedGain> {
  using S = PublishedGain;
  static constexpr auto kList = std::tuple(Key{"speed_up_percent", &S::speed_up_percent}, Key{"source", &S::source});
};
template <>
struct JsonFields<GainFigures> {
  using S = GainFigures;
  static constexpr auto kList = std::tuple(Key{"speed_up_percent", &S::speed_up_percent}, Key{"cases", &S::cases},
                                           Key{"published", &S::published});
};
template <>
struct JsonFields<HostFigures> {
  using S = HostFigures;
  static constexpr auto kList = std::tuple(Key{"seconds", &S::seconds}, Key{"peak_bytes", &S::peak_bytes},
                                           Key{"threads", &S::threads}, Key{"date", &S::date});
};
template <>
struct JsonFields<StepFigures> {
  using S = StepFigures;
  static constexpr auto kList =
      std::tuple(Key{"step", &S::step}, Key{"epoch", &S::epoch}, Key{"loss", &S::loss},
                 Key{"learning_rate", &S::learning_rate}, Key{"grad_norm", &S::grad_norm},
                 Key{"simulated_seconds", &S::simulated_seconds}, Key{"host_seconds", &S::host_seconds});
};

namespace {

/// Counts and bytes are written whole.
Json number(const Figure& figure, double value) {
  constexpr double kExact = 1LL << 53;
  const bool counted = figure.unit == "1" || figure.unit == "B";
  if (counted && value == std::floor(value) && std::abs(value) < kExact) return static_cast<std::int64_t>(value);
  return value;
}

/// The figures of a section, then its other members.
template <class... Parts>
Json section_json(const Figures& figures, std::string_view name, const Parts&... parts) {
  Json out = Json::object();
  for (const Figure& figure : figure_table()) {
    if (figure.section != name) continue;
    const Maybe value = figure.of(figures);
    if (value)
      out[figure.name] = number(figure, *value);
    else if (figure.set)
      out[figure.name] = nullptr;
  }
  (out.update(json_of(parts)), ...);
  return out;
}

Json workload_json(const Figures& figures) {
  const WorkloadFigures& workload = figures.workload;
  Json out{{"name", workload.name}, {"options", json_of(workload.options)}};
  if (!workload.file.empty()) out["file"] = workload.file, out["file_hash"] = workload.file_hash;
  if (workload.model) out["model"] = json_of(*workload.model);
  if (workload.model && !workload.model->trained_parameters) out["model"].erase("trained_parameters");
  if (workload.samples) out["dataset"] = {{"samples", *workload.samples}};
  return out;
}

Json plan_json(const Figures& f) {
  Json out = section_json(f, "plan", f.plan);
  for (const char* of_pipeline : {"micro_batch_seconds", "recorded_micro_batches", "slowest_stage", "stage_seconds"})
    if (f.plan.pipeline == 1) out.erase(of_pipeline);
  return out;
}

/// The name of a job's time depends on its kind.
constexpr const char *kTrains = "train_runtime", *kGenerates = "generate_runtime";
constexpr const char *kTrainsElsewhere = "train_runtime_elsewhere", *kGeneratesElsewhere = "generate_runtime_elsewhere";

void rename(Json& object, const char* then, const char* now) {
  if (!object.is_object() || !object.contains(then)) return;
  Json value = std::move(object[then]);
  object.erase(then);
  object[now] = std::move(value);
}

void rename_in_changes(Json& body, const char* then, const char* now) {
  if (body.contains("answer") && body["answer"].is_object() && body["answer"].contains("changes"))
    for (Json& change : body["answer"]["changes"]) rename(change, then, now);
}

/// Without the figures that jobs of its kind do not have.
template <class... Parts>
Json job_json(const Figures& f, const Parts&... parts) {
  Json out = section_json(f, "job", parts...);
  const std::vector<const char*> trains{kTrains, "train_samples_per_second", "train_steps_per_second", "eval_runtime"},
      generates{kGenerates, "time_to_first_token_seconds", "time_per_output_token_p50_seconds",
                "instance_tokens_per_second"};
  for (const char* name : f.generates() ? trains : generates)
    if (out[name].is_null()) out.erase(name);
  if (f.generates()) rename(out, kTrainsElsewhere, kGeneratesElsewhere);
  return out;
}

void add_projection(Json& body, const Figures& f) {
  if (f.answer) body["answer"] = json_of(*f.answer);
  if (f.generates()) rename_in_changes(body, kTrains, kGenerates);
  body["job"] = job_json(f, f.time);
  if (f.lengths) body["lengths"] = json_of(*f.lengths);
  body["plan"] = plan_json(f);
  body["cost"] = section_json(f, "cost");
  body["utilisation"] = section_json(f, "utilisation");
  body["engines"] = json_of(f.engines);
  body["resources"] = json_of(f.resources);
  body["memory"] = section_json(f, "memory", f.memory);
}

/// A key of schema 1: "job", "mfu_percent".
struct FormerKey {
  const char *section, *then, *now;
};
constexpr std::array kFormerKeys = {FormerKey{"job", "mfu_percent", "job_mfu_percent"},
                                    FormerKey{"job", "model_flops", "job_model_flops"},
                                    FormerKey{"cost", "run", "dollars"},
                                    FormerKey{"cost", "per_epoch", "dollars_per_epoch"},
                                    FormerKey{"cost", "per_1k_samples", "dollars_per_1k_samples"},
                                    FormerKey{"utilisation", "mfu", "mfu_estimated_percent"},
                                    FormerKey{"utilisation", "mfu_advertised", "mfu_advertised_percent"},
                                    FormerKey{"utilisation", "hfu", "hfu_estimated_percent"},
                                    FormerKey{"utilisation", "mbu", "mbu_estimated_percent"},
                                    FormerKey{"utilisation", "mfu_achievable", "mfu_max_achievable_estimated_percent"},
                                    FormerKey{"utilisation", "intensity", "mm_arithmetic_intensity"},
                                    FormerKey{"utilisation", "model_flops", "core_model_flops"},
                                    FormerKey{"utilisation", "matmul_flops", "core_matmul_flops"},
                                    FormerKey{"utilisation", "transpose_flops", "core_transpose_flops"},
                                    FormerKey{"memory", "peak", "hbm_bytes"},
                                    FormerKey{"memory", "capacity", "hbm_capacity_bytes"}};

void rename_former(Json& body) {
  for (const FormerKey& key : kFormerKeys) {
    const auto part = body.find(key.section);
    if (part == body.end() || !part->is_object() || !part->contains(key.then)) continue;
    rename(*part, key.then, key.now);
  }
}

/// Takes the figures of all sections out of `body`.
void take_figures(Json& body, const JsonPlace& place, Figures& out) {
  for (const Figure& figure : figure_table()) {
    const auto part = body.find(figure.section);
    if (part == body.end() || !part->is_object() || figure.section == "metrics") continue;
    const auto found = part->find(figure.name);
    if (found == part->end()) continue;
    if (figure.set && !found->is_null()) {
      double value = 0;
      read_json(*found, place.at(figure.section).at(figure.name), value);
      figure.set(out, value);
    }
    part->erase(found);
  }
}

/// An empty list or object for a null or absent value.
template <class T>
void read_section(const Json& body, const JsonPlace& place, std::string_view key, T& out) {
  const auto found = body.find(key);
  if (found != body.end() && !found->is_null()) read_json(*found, place.at(key), out);
}

void read_workload(const Json& body, const JsonPlace& place, WorkloadFigures& out) {
  const auto found = body.find("workload");
  if (found == body.end() || found->is_null()) return;
  const JsonPlace at = place.at("workload");
  if (!found->is_object()) at.refuse("an object");
  read_section(*found, at, "name", out.name);
  read_section(*found, at, "file", out.file);
  read_section(*found, at, "file_hash", out.file_hash);
  read_section(*found, at, "options", out.options);
  read_section(*found, at, "model", out.model);
  if (const auto data = found->find("dataset"); data != found->end() && data->is_object())
    read_section(*data, at.at("dataset"), "samples", out.samples);
}

}  // namespace

Json to_json(const Figures& f) {
  Json body = Json::object();
  body["trnsim"] = {{"version", f.version}};
  body["command"] = f.command;
  body["workload"] = workload_json(f);
  body["machine"] = section_json(f, "machine", f.machine);
  body["seed"] = json_of(f.seed);
  if (f.projected()) add_projection(body, f);
  body["metrics"] = json_of(f.training);
  if (!f.work.texts.empty()) body["texts"] = json_of(f.work.texts);
  body["published"] = json_of(f.published);
  if (f.gain) body["compiler"] = json_of(*f.gain);
  body["host"] = json_of(f.host);
  return body;
}

Json flat_json(const Figures& f) {
  Json out{{"plan", f.plan.text},
           {"numerics", f.plan.numerics},
           {"stack", f.time.stack},
           {"instance_type", f.machine.instance_type}};
  for (const char* name : {"machine", "workload/model", "job", "plan", "cost", "utilisation"})
    out.update(std::string_view{name} == "job" ? job_json(f) : section_json(f, name));
  out["memory"] = section_json(f, "memory", f.memory);
  return out;
}

Figures figures_from(Json body, int version, const std::string& file) {
  Figures out;
  const JsonPlace place{file, ""};
  if (version == 1) rename_former(body);
  take_figures(body, place, out);
  if (out.generates()) {
    rename_in_changes(body, kGenerates, kTrains);
    if (body.contains("job")) rename(body["job"], kGeneratesElsewhere, kTrainsElsewhere);
  }
  if (const auto made = body.find("trnsim"); made != body.end() && made->is_object())
    read_section(*made, place.at("trnsim"), "version", out.version);
  read_section(body, place, "command", out.command);
  read_workload(body, place, out.workload);
  read_section(body, place, "machine", out.machine);
  read_section(body, place, "seed", out.seed);
  read_section(body, place, "answer", out.answer);
  read_section(body, place, "job", out.time);
  read_section(body, place, "lengths", out.lengths);
  read_section(body, place, "plan", out.plan);
  read_section(body, place, "engines", out.engines);
  read_section(body, place, "resources", out.resources);
  read_section(body, place, "memory", out.memory);
  read_section(body, place, "metrics", out.training);
  read_section(body, place, "texts", out.work.texts);
  read_section(body, place, "published", out.published);
  read_section(body, place, "compiler", out.gain);
  read_section(body, place, "host", out.host);
  return out;
}

StepFigures step_from(const Json& line, const std::string& file) {
  StepFigures out;
  read_json(line, {file, "a step"}, out);
  return out;
}

Json to_json(const StepFigures& step) { return json_of(step); }

}  // namespace analysis
