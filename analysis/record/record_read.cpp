// read_record(): the tables back as the records they came from.
#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <map>

#include "analysis/record/record.h"
#include "analysis/record/record_check.h"
#include "analysis/record/record_columns.h"
#include "analysis/record/sqlite.h"
#include "base/error.h"
#include "isa/names.h"

namespace analysis {
namespace {

using base::Error;
using base::Fault;

[[noreturn]] void damaged(const Database& db, std::string_view what) {
  throw Error{Fault::kData, db.file(), fmt::format("is damaged: {}", what), "run the job again"};
}

template <class Found>
auto known(const Database& db, const Found& found, std::string_view name) {
  if (!found) damaged(db, fmt::format("'{}' is not a name of this trnsim", name));
  return *found;
}

isa::Opcode opcode(const Database& db, const std::string& name) { return known(db, isa::opcode_from(name), name); }
isa::Engine engine(const Database& db, const std::string& name) { return known(db, isa::engine_from(name), name); }

/// A column as a member.
template <class T>
void take(const Database& db, const Statement& row, int column, T& value) {
  if constexpr (std::is_same_v<T, isa::Opcode>)
    value = opcode(db, row.text(column));
  else if constexpr (std::is_same_v<T, isa::Engine>)
    value = engine(db, row.text(column));
  else if constexpr (std::is_same_v<T, isa::Phase>)
    value = known(db, isa::phase_from(row.text(column)), row.text(column));
  else if constexpr (std::is_same_v<T, isa::Rounding>)
    value = known(db, isa::rounding_from(row.text(column)), row.text(column));
  else if constexpr (std::is_same_v<T, std::string>)
    value = row.text(column);
  else if constexpr (std::is_floating_point_v<T>)
    value = row.real(column);
  else
    value = static_cast<T>(row.whole(column));
}

/// The columns of a struct, from the row's column `first` on; `more` as columns() takes it.
template <class T, class... More>
T struct_of(const Database& db, const Statement& row, int first, More&... more) {
  T out{};
  columns([&](auto&... values) { (take(db, row, first++, values), ...); }, out, more...);
  return out;
}

/// The rows of the table meta.
class Meta {
 public:
  explicit Meta(Database& db) : db_{db}, row_{db.prepare("SELECT value FROM meta WHERE key = ?")} {}
  /// Leaves `value` as it is where a record may lack the row and does.
  template <class T>
  void get(const char* key, T& value, bool added = false) {
    if (row_.query(key).step())
      take(db_, row_, 0, value);
    else if (!added)
      damaged(db_, fmt::format("meta has no '{}'", key));
  }

 private:
  Database& db_;
  Statement row_;
};

void check_schema(const Database& db, Meta& meta) {
  int schema = 0;
  meta.get("record_schema", schema);
  if (schema >= 1 && schema <= kRecordSchema) return;
  throw Error{Fault::kData, db.file(), fmt::format("has schema {}, this trnsim reads {}", schema, kRecordSchema),
              "read it with the trnsim that wrote it, or a newer one"};
}

void read_meta(Meta& meta, Record& r) {
  meta_rows([&](const char* key, auto& value, bool added = false) { meta.get(key, value, added); }, r);
  std::string hash;
  meta.get("machine_hash", hash);
  std::from_chars(hash.data(), hash.data() + hash.size(), r.info.machine_hash, 16);
}

void read_machine_limits(Database& db, Record& r) {
  std::map<std::string, double> values;
  Statement rows = db.prepare("SELECT name, value FROM peaks");
  while (rows.step()) values[rows.text(0)] = rows.real(1);
  hw::Peaks& peaks = r.result.peaks;
  peaks.matmul_flops = values["matmul"];
  peaks.hbm_bandwidth = values["hbm"];
  peaks.link_bandwidth = values["link"];
  peaks.dma_bandwidth = values["dma"];
  peaks.dma_engines = values["dma_engines"];
  peaks.advertised_flops = values["matmul_advertised"];
  for (int e = 0; e < isa::kEngineCount; ++e)
    peaks.clock[e] = values[fmt::format("{}_clock", isa::name_of(static_cast<isa::Engine>(e)))];
  Statement ranks = db.prepare("SELECT total_fs FROM ranks ORDER BY rank");
  while (ranks.step()) r.result.rank_total.push_back(static_cast<hw::Fs>(ranks.whole(0)));
}

template <class List>
auto& at(const Database& db, List& list, std::int64_t index) {
  if (index < 0 || index >= static_cast<std::int64_t>(list.size()))
    damaged(db, "a row names something that does not exist");
  return list[static_cast<std::size_t>(index)];
}

void read_blocks(Database& db, Record& r) {
  Statement blocks = db.prepare("SELECT * FROM blocks ORDER BY block");
  while (blocks.step()) r.program.blocks.push_back(struct_of<isa::Block>(db, blocks, 1));
  r.work.resize(r.program.blocks.size());
  Statement labels = db.prepare("SELECT block, name FROM labels ORDER BY block, label");
  while (labels.step()) at(db, r.program.blocks, labels.whole(0)).labels.push_back(labels.text(1));
}

void read_instrs(Database& db, Record& r) {
  Statement instrs = db.prepare("SELECT * FROM instrs ORDER BY block, instr");
  while (instrs.step()) {
    isa::Instr instr;
    instr.op = opcode(db, instrs.text(2));
    instr.engine = engine(db, instrs.text(3));
    instr.label = static_cast<std::uint32_t>(instrs.whole(4));
    instr.queue = static_cast<std::uint8_t>(instrs.whole(5));
    instr.group = static_cast<std::uint8_t>(instrs.whole(6));
    instr.signal = instrs.whole(7) != 0;
    at(db, r.program.blocks, instrs.whole(0)).instrs.own().push_back(instr);
    at(db, r.work, instrs.whole(0))
        .push_back({instrs.real(8), instrs.real(9), instrs.columns() > 10 ? instrs.text(10) : ""});
  }
  Statement waits = db.prepare("SELECT block, instr, semaphore, count FROM waits ORDER BY block, instr, position");
  while (waits.step()) {
    isa::Instr& instr = at(db, at(db, r.program.blocks, waits.whole(0)).instrs.own(), waits.whole(1));
    if (instr.wait_count >= isa::kMaxWaits) damaged(db, "an instruction has too many waits");
    instr.waits[instr.wait_count++] = {.sem = static_cast<std::uint16_t>(waits.whole(2)),
                                       .count = static_cast<std::uint32_t>(waits.whole(3))};
  }
}

std::vector<std::int64_t> shape_of(const std::string& text) {
  std::vector<std::int64_t> shape;
  for (std::size_t begin = 0; begin < text.size();) {
    const std::size_t end = std::min(text.find('x', begin), text.size());
    shape.push_back(0);
    std::from_chars(text.data() + begin, text.data() + end, shape.back());
    begin = end + 1;
  }
  return shape;
}

void read_regions(Database& db, Record& r) {
  Statement rows = db.prepare("SELECT * FROM regions ORDER BY rowid");
  while (rows.step()) {
    r.regions.push_back({.region = {.name = rows.text(0),
                                    .kind = rows.text(1),
                                    .dtype = known(db, isa::dtype_from(rows.text(2)), rows.text(2)),
                                    .shape = shape_of(rows.text(3)),
                                    .offset = static_cast<std::uint64_t>(rows.whole(4)),
                                    .bytes = static_cast<std::uint64_t>(rows.whole(5))},
                         .first_call = rows.whole(6),
                         .last_call = rows.whole(7)});
    r.program.regions.push_back(r.regions.back().region);
  }
}

void read_calls(Database& db, Record& r) {
  Statement engines = db.prepare("SELECT * FROM engines");
  while (engines.step())
    r.result.engines[static_cast<int>(engine(db, engines.text(0)))] = struct_of<hw::EngineTime>(db, engines, 1);
  Statement calls = db.prepare("SELECT * FROM calls ORDER BY call");
  while (calls.step()) {
    isa::Call& call = r.program.calls.emplace_back();
    const auto time = struct_of<hw::CallTime>(db, calls, 1, call.await);
    at(db, r.program.blocks, time.block);
    call.block = time.block, call.layer = time.layer, call.phase = time.phase;
    r.result.dma += time.dma;
    r.result.calls.push_back(time);
  }
  Statement parts = db.prepare("SELECT * FROM call_engines");
  while (parts.step()) {
    hw::CallTime& call = at(db, r.result.calls, parts.whole(0));
    call.engines[static_cast<int>(engine(db, parts.text(1)))] = struct_of<hw::EngineTime>(db, parts, 2);
  }
}

void read_work(Database& db, Record& r) {
  Statement ops = db.prepare("SELECT * FROM ops ORDER BY rowid");
  while (ops.step()) {
    r.result.ops.push_back(struct_of<hw::OpTime>(db, ops, 0));
    at(db, r.program.blocks, r.result.ops.back().block);
  }
  Statement collectives = db.prepare("SELECT * FROM collectives ORDER BY rowid");
  while (collectives.step()) r.result.collectives.push_back(struct_of<hw::CollectiveTime>(db, collectives, 0));
  Statement points = db.prepare("SELECT * FROM roofline ORDER BY rowid");
  while (points.step()) r.roofline.push_back(struct_of<RoofPoint>(db, points, 0));
  Statement stats = db.prepare("SELECT * FROM stats ORDER BY rowid");
  while (stats.step()) r.stats.push_back(struct_of<Stat>(db, stats, 0));
}

hw::TraceEvent::Track track(const Database& db, const std::string& name) {
  using Track = hw::TraceEvent::Track;
  if (name == "engine") return Track::kEngine;
  if (name == "dma_ring") return Track::kDmaRing;
  if (name == "collective_queue") return Track::kCollectiveQueue;
  damaged(db, fmt::format("'{}' is not a track", name));
}

hw::Hold hold(const Database& db, const std::string& name) {
  const auto found = std::ranges::find(hw::kHoldNames, name);
  if (found != hw::kHoldNames.end()) return static_cast<hw::Hold>(found - hw::kHoldNames.begin());
  damaged(db, fmt::format("'{}' is not something that an engine waits for", name));
}

void read_events(Database& db, Record& r) {
  Statement rows = db.prepare("SELECT * FROM events ORDER BY rowid");
  while (rows.step()) {
    r.result.events.push_back({.begin = static_cast<hw::Fs>(rows.whole(5)),
                               .end = static_cast<hw::Fs>(rows.whole(6)),
                               .call = static_cast<std::uint32_t>(rows.whole(3)),
                               .instr = static_cast<std::uint32_t>(rows.whole(4)),
                               .track = track(db, rows.text(1)),
                               .lane = static_cast<std::uint8_t>(rows.whole(2)),
                               .rank = static_cast<std::uint16_t>(rows.whole(0))});
    hw::TraceEvent& event = r.result.events.back();
    if (rows.columns() > 8 && rows.whole(7) > 0) {
      event.waited = static_cast<hw::Fs>(rows.whole(7));
      event.hold = hold(db, rows.text(8));
    }
    at(db, r.program.blocks[at(db, r.program.calls, event.call).block].instrs, event.instr);
  }
}

}  // namespace

Record read_record(const std::filesystem::path& path) {
  if (path.extension() == ".json" && std::filesystem::exists(path))
    throw Error{Fault::kData, path.string(), "is not the record of a run",
                "compare a profile of neuron-profile with a run: `trnsim compare` RUN PROFILE"};
  Database db{std::filesystem::is_directory(path) ? path / kRecordFile : path, Database::Mode::kRead};
  Meta meta{db};
  check_schema(db, meta);
  Record record;
  read_meta(meta, record);
  read_machine_limits(db, record);
  read_blocks(db, record);
  read_instrs(db, record);
  read_regions(db, record);
  read_calls(db, record);
  read_work(db, record);
  read_events(db, record);
  check_record(record, db.file());
  record.utilisation = utilisation(record.result, record.program);
  meta.get("transpose_flops", record.utilisation.transpose_flops);
  const double array = record.result.peaks.matmul_flops * record.utilisation.seconds;
  const double work = record.utilisation.matmul_flops + record.utilisation.transpose_flops;
  record.utilisation.hfu = array > 0 ? work / array * 100 : 0;
  return record;
}

Record read_record(const std::filesystem::path& folder, std::int64_t stage) {
  Record slowest = read_record(folder);
  const auto stages = static_cast<std::int64_t>(slowest.info.stages);
  if (stage < 0 || (stages == 1 && stage == 0)) return slowest;
  if (stage >= stages)
    throw Error{Fault::kUsage, "`stage`", fmt::format("is {}, but {} has {}", stage, folder.string(), stages),
                stages == 1 ? std::string{"leave it out: the job has no pipeline"}
                            : fmt::format("choose one from 0 to {}", stages - 1)};
  return read_record(folder / record_name(static_cast<std::size_t>(stage)));
}

}  // namespace analysis
