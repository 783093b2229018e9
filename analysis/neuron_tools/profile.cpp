#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <nlohmann/json.hpp>
#include <optional>
#include <utility>

#include "analysis/neuron_tools/neuron_profile.h"
#include "base/error.h"
#include "base/files.h"
#include "base/text.h"
#include "isa/names.h"

namespace analysis {
namespace {

using base::Error;
using base::Fault;
using nlohmann::json;
using Done = NeuronProfile::Work;

/// Small letters and digits alone: "DmaPacket", "dma_packet".
std::string plain_name(std::string_view text) {
  std::string out = base::lower(text);
  std::erase_if(out, [](unsigned char c) { return std::isalnum(c) == 0; });
  return out;
}

struct ToolName {
  std::string_view theirs, ours;
};
/// The tools' names of engines. Source: AWS Neuron documentation, NKI profiling guide.
constexpr std::array kEngineNamesThere = {ToolName{"pe", "tensor"},         ToolName{"act", "scalar"},
                                          ToolName{"activation", "scalar"}, ToolName{"dve", "vector"},
                                          ToolName{"pool", "gpsimd"},       ToolName{"sp", "sync"}};
constexpr std::array kOpcodesThere = {ToolName{"activate", "activation"}, ToolName{"multiplymoving", "matmul"},
                                      ToolName{"matmult", "matmul"}, ToolName{"peTranspose", "pe_transpose"}};

std::string alias_of(const std::string& name, std::span<const ToolName> aliases) {
  const auto at = std::ranges::find_if(aliases, [&](const ToolName& a) { return plain_name(a.theirs) == name; });
  return at == aliases.end() ? name : std::string{at->ours};
}

std::string engine_of(const std::string& text) {
  std::string name = plain_name(text);
  if (name.ends_with("engine")) name.resize(name.size() - 6);
  return alias_of(name, kEngineNamesThere);
}

/// Our name of an opcode, or theirs in small letters.
std::string opcode_of(const std::string& text) {
  const std::string name = plain_name(text), alias = alias_of(name, kOpcodesThere);
  for (std::size_t op = 0; op < isa::kOpcodeCount; ++op)
    if (const auto ours = isa::name_of(static_cast<isa::Opcode>(op)); plain_name(ours) == plain_name(alias))
      return std::string{ours};
  return base::lower(text);
}

class ProfileReader {
 public:
  explicit ProfileReader(const std::filesystem::path& file) : where_{file.string()} {
    const std::string text = base::read_file(file);
    file_ = base::is_shallow_json(text) ? json::parse(text, nullptr, false) : json();
    if (file_.is_discarded() || !file_.is_object()) fail("is not a JSON object of tables");
  }

  NeuronProfile read() {
    NeuronProfile out;
    bool any = false;
    for (const auto& [name, table] : file_.items()) {
      if (plain_name(name) == "summary") any = true, read_summary(table, out);
      if (plain_name(name) == "instruction" || plain_name(name) == "instructions")
        any = true, read_instructions(table, out);
    }
    if (!any && file_.contains("total_time")) any = true, read_summary(file_, out);
    if (!any) fail("has neither a summary nor instructions");
    return out;
  }

 private:
  [[noreturn]] void fail(const std::string& what) const {
    throw Error{Fault::kData, where_, what,
                "give what `neuron-profile view` wrote as json, or trnsim trace in the format neuron"};
  }

  std::optional<double> number(const json& value) const {
    double out = 0;
    if (value.is_number()) out = value.get<double>();
    if (value.is_string() && std::sscanf(value.get<std::string>().c_str(), "%lf", &out) != 1) return std::nullopt;
    if (!value.is_number() && !value.is_string()) return std::nullopt;
    return std::isfinite(out) ? std::optional{out} : std::nullopt;
  }

  void read_summary(const json& table, NeuronProfile& out) const {
    const json& row = table.is_array() && !table.empty() ? table.front() : table;
    if (!row.is_object()) fail("has a summary that is not an object");
    for (const auto& [name, value] : row.items())
      if (const auto known = number(value)) out.summary[name] = *known;
    const auto total = out.summary.find("total_time");
    if (total == out.summary.end() || !(total->second > 0)) fail("has a summary without a positive total_time");
  }

  void read_instructions(const json& table, NeuronProfile& out) const {
    if (!table.is_array()) fail("has instructions that are not a list");
    for (std::size_t i = 0; i < table.size(); ++i) {
      const json& row = table[i];
      const auto text = [&](const char* key) {
        if (!row.is_object() || !row.contains(key) || !row.at(key).is_string())
          fail(fmt::format("instruction {} has no \"{}\"", i, key));
        return row.at(key).get<std::string>();
      };
      const auto duration =
          row.is_object() && row.contains("duration_ns") ? number(row.at("duration_ns")) : std::nullopt;
      if (!duration || *duration < 0) fail(fmt::format("instruction {} has no \"duration_ns\" of 0 or more", i));
      for (Done* work : {&out.engines[engine_of(text("engine"))], &out.opcodes[opcode_of(text("opcode"))]})
        ++work->count, work->seconds += *duration * 1e-9;
    }
  }

  std::string where_;
  json file_;
};

/// Calls visit(event, instruction, label) for each instruction of the record's core; a wait does not count as an
/// instruction there.
template <class Visit>
void for_each_instruction(const Record& record, const Visit& visit) {
  for (const hw::TraceEvent& e : record.result.events) {
    if (e.track != hw::TraceEvent::Track::kEngine || e.rank != record.result.rank) continue;
    const isa::Block& block = record.program.blocks[record.program.calls[e.call].block];
    const isa::Instr& instr = block.instrs[e.instr];
    if (instr.op != isa::Opcode::kWait) visit(e, instr, block.labels[instr.label]);
  }
}

double nanoseconds(hw::Fs time) { return static_cast<double>(time) * 1e-6; }

/// A field of a summary to compare, and its unit.
struct SummaryField {
  const char *name, *unit;
};
constexpr std::array kTotalFields = {SummaryField{"total_time", "s"},        SummaryField{"model_flops", "FLOP"},
                                     SummaryField{"hardware_flops", "FLOP"}, SummaryField{"transpose_flops", "FLOP"},
                                     SummaryField{"cc_op_count", "1"},       SummaryField{"cc_op_active_time", "s"}};
constexpr std::array kDmaFields = {SummaryField{"dma_transfer_count", "1"},
                                   SummaryField{"dma_transfer_total_bytes", "B"}, SummaryField{"hbm_read_bytes", "B"},
                                   SummaryField{"hbm_write_bytes", "B"}};
constexpr std::array kBusyFields = {"tensor_engine", "vector_engine", "scalar_engine",
                                    "gpsimd_engine", "sync_engine",   "dma"};

/// The share of the whole, in any unit that profiles use for per cent.
std::optional<double> busy_share(const NeuronProfile& p, const std::string& what) {
  const auto active = p.summary.find(what + "_active_time"), total = p.summary.find("total_time");
  if (active == p.summary.end() || total == p.summary.end()) return std::nullopt;
  return 100 * active->second / total->second;
}

void require_same_program(const NeuronProfile& run, const NeuronProfile& profile, const std::string& where) {
  constexpr double kMost = 0.1;
  const auto ours = run.summary.find("model_flops"), theirs = profile.summary.find("model_flops");
  if (ours == run.summary.end() || theirs == profile.summary.end() || ours->second <= 0 || theirs->second <= 0) return;
  if (std::abs(theirs->second / ours->second - 1) <= kMost) return;
  throw Error{
      Fault::kData, where,
      fmt::format("belongs to another program: it has {:.4g} FLOP of matmuls in a step of a core, the run {:.4g}",
                  theirs->second, ours->second),
      "profile the model, batch, length and plan of the run, or run those of the profile"};
}

void by_change(std::vector<Difference>& all, std::vector<Difference> part) {
  std::ranges::stable_sort(part, std::greater{}, [](const Difference& d) { return std::abs(d.change()); });
  all.insert(all.end(), part.begin(), part.end());
}

/// Pairs of values for each name in either of the two.
std::vector<Difference> pairs_of(const char* part, const std::map<std::string, Done>& before,
                                 const std::map<std::string, Done>& after, bool time) {
  std::map<std::string, std::pair<Done, Done>> both;
  for (const auto& [name, work] : before) both[name].first = work;
  for (const auto& [name, work] : after) both[name].second = work;
  std::vector<Difference> out;
  for (const auto& [name, work] : both)
    out.push_back(time ? Difference{part, name, work.first.seconds, work.second.seconds, "s"}
                       : Difference{part, name, static_cast<double>(work.first.count),
                                    static_cast<double>(work.second.count), "1"});
  return out;
}

}  // namespace

NeuronProfile read_neuron_profile(const std::filesystem::path& file) { return ProfileReader{file}.read(); }

NeuronProfile neuron_profile_of(const Record& record) {
  NeuronProfile out;
  for (const Stat& stat : record.stats) out.summary[stat.name] = stat.value;
  for_each_instruction(record, [&](const hw::TraceEvent& e, const isa::Instr& instr, const std::string&) {
    for (Done* work :
         {&out.engines[std::string{isa::name_of(instr.engine)}], &out.opcodes[std::string{isa::name_of(instr.op)}]})
      ++work->count, work->seconds += nanoseconds(e.end - e.begin) * 1e-9;
  });
  if (!out.engines.empty()) return out;
  for (const hw::OpTime& op : record.result.ops) {
    if (op.op == isa::Opcode::kWait) continue;
    for (Done* work :
         {&out.engines[std::string{isa::name_of(op.engine)}], &out.opcodes[std::string{isa::name_of(op.op)}]})
      work->count += op.count, work->seconds += hw::seconds(op.busy);
  }
  return out;
}

void write_neuron_profile(const Record& record, const std::filesystem::path& file) {
  if (record.result.events.empty())
    throw Error{Fault::kUsage, file.string(), "the run recorded no instructions",
                "run it again with `trace_steps` 1, which records them"};
  json summary = json::object();
  for (const Stat& stat : record.stats) summary[stat.name] = stat.value;
  base::AtomicFile out{file};
  out.write(fmt::format("{{\"summary\": [{}],\n\"instruction\": [", summary.dump()));
  const char* between = "\n";
  for_each_instruction(record, [&](const hw::TraceEvent& e, const isa::Instr& instr, const std::string& label) {
    const json row = {{"start_ts", nanoseconds(e.begin)},
                      {"end_ts", nanoseconds(e.end)},
                      {"duration_ns", nanoseconds(e.end - e.begin)},
                      {"engine", isa::name_of(instr.engine)},
                      {"opcode", isa::name_of(instr.op)},
                      {"hlo_name", label},
                      {"layer", record.program.calls[e.call].layer},
                      {"pc", e.instr}};
    out.write(std::exchange(between, ",\n") + row.dump());
  });
  out.write("\n]}\n");
  out.commit();
}

std::vector<Difference> compare(const Record& record, const NeuronProfile& profile, const std::string& where) {
  const NeuronProfile run = neuron_profile_of(record);
  require_same_program(run, profile, where);
  std::vector<Difference> out;
  const auto figures = [&](const char* part, std::span<const SummaryField> fields) {
    for (const SummaryField& field : fields) {
      const auto ours = run.summary.find(field.name), theirs = profile.summary.find(field.name);
      if (ours != run.summary.end() && theirs != profile.summary.end())
        out.push_back({part, field.name, ours->second, theirs->second, field.unit});
    }
  };
  figures("total", kTotalFields);
  figures("dma", kDmaFields);
  std::vector<Difference> busy;
  for (const char* what : kBusyFields) {
    const auto ours = busy_share(run, what), theirs = busy_share(profile, what);
    if (ours && theirs) busy.push_back({"busy", std::string{what} + "_active_percent", *ours, *theirs, "%"});
  }
  by_change(out, busy);
  if (profile.engines.empty()) return out;
  by_change(out, pairs_of("instructions", run.engines, profile.engines, false));
  by_change(out, pairs_of("op", run.opcodes, profile.opcodes, true));
  return out;
}

}  // namespace analysis
