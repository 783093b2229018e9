// write_record(): one transaction into a file beside the final one, then a rename.
#include <fcntl.h>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <unistd.h>

#include <system_error>

#include "analysis/record/record.h"
#include "analysis/record/record_columns.h"
#include "analysis/record/record_schema.h"
#include "analysis/record/sqlite.h"
#include "base/error.h"
#include "base/files.h"
#include "base/hash.h"
#include "base/interrupt.h"
#include "isa/names.h"

namespace analysis {
namespace {

constexpr std::array kTracks = {"engine", "dma_ring", "collective_queue"};

/// A value as its column has it: enumerators by name.
template <class T>
decltype(auto) in_column(const T& value) {
  if constexpr (std::is_enum_v<T>)
    return isa::name_of(value);
  else
    return value;
}

/// Writes `key`, which counts the row, and the columns of the struct.
template <class T, class... Key>
void write_row(Statement& statement, const T& from, const Key&... key) {
  columns([&](const auto&... values) { statement.run(key..., in_column(values)...); }, from);
}

void write_meta(const Record& r, Database& db) {
  Statement meta = db.prepare("INSERT INTO meta VALUES(?, ?)");
  meta.run("record_schema", kRecordSchema);
  meta.run("machine_hash", base::hash_text(r.info.machine_hash));
  meta.run("transpose_flops", r.utilisation.transpose_flops);
  meta_rows([&](const char* key, const auto& value, bool = false) { meta.run(key, in_column(value)); }, r);
}

void write_machine_limits(const Record& r, Database& db) {
  Statement peak = db.prepare("INSERT INTO peaks VALUES(?, ?, ?)");
  const hw::Peaks& peaks = r.result.peaks;
  peak.run("matmul", peaks.matmul_flops, "FLOP/s");
  peak.run("hbm", peaks.hbm_bandwidth, "B/s");
  peak.run("link", peaks.link_bandwidth, "B/s");
  peak.run("dma", peaks.dma_bandwidth, "B/s");
  peak.run("dma_engines", peaks.dma_engines, "1");
  peak.run("matmul_advertised", peaks.advertised_flops, "FLOP/s");
  for (int e = 0; e < isa::kEngineCount; ++e)
    peak.run(fmt::format("{}_clock", isa::name_of(static_cast<isa::Engine>(e))), peaks.clock[e], "Hz");
  Statement rank = db.prepare("INSERT INTO ranks VALUES(?, ?)");
  for (std::size_t i = 0; i < r.result.rank_total.size(); ++i) rank.run(i, r.result.rank_total[i]);
}

void write_program(const Record& r, Database& db) {
  Statement block = db.prepare("INSERT INTO blocks VALUES(?, ?, ?, ?, ?)");
  Statement label = db.prepare("INSERT INTO labels VALUES(?, ?, ?)");
  Statement instr = db.prepare("INSERT INTO instrs VALUES(?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)");
  Statement wait = db.prepare("INSERT INTO waits VALUES(?, ?, ?, ?, ?)");
  for (std::size_t b = 0; b < r.program.blocks.size(); ++b) {
    const isa::Block& one = r.program.blocks[b];
    write_row(block, one, b);
    for (std::size_t l = 0; l < one.labels.size(); ++l) label.run(b, l, one.labels[l]);
    for (std::size_t i = 0; i < one.instrs.size(); ++i) {
      const isa::Instr& in = one.instrs[i];
      instr.run(b, i, isa::name_of(in.op), isa::name_of(in.engine), in.label, in.queue, in.group, in.signal,
                r.work[b][i].hbm_bytes, r.work[b][i].flops, r.work[b][i].operands);
      for (int w = 0; w < in.wait_count; ++w) wait.run(b, i, w, in.waits[w].sem, in.waits[w].count);
    }
  }
  Statement region = db.prepare("INSERT INTO regions VALUES(?, ?, ?, ?, ?, ?, ?, ?)");
  for (const RegionUse& use : r.regions) {
    const isa::Region& at = use.region;
    region.run(at.name, at.kind, isa::name_of(at.dtype), fmt::format("{}", fmt::join(at.shape, "x")), at.offset,
               at.bytes, use.first_call, use.last_call);
  }
}

void write_calls(const Record& r, Database& db) {
  Statement engine = db.prepare("INSERT INTO engines VALUES(?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)");
  Statement call = db.prepare("INSERT INTO calls VALUES(?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)");
  Statement part = db.prepare("INSERT INTO call_engines VALUES(?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)");
  const auto name = [](int e) { return isa::name_of(static_cast<isa::Engine>(e)); };
  for (int e = 0; e < isa::kEngineCount; ++e) write_row(engine, r.result.engines[e], name(e));
  for (std::size_t c = 0; c < r.result.calls.size(); ++c) {
    const hw::CallTime& t = r.result.calls[c];
    columns([&](const auto&... values) { call.run(c, in_column(values)...); }, t, r.program.calls[c].await);
    for (int e = 0; e < isa::kEngineCount; ++e) write_row(part, t.engines[e], c, name(e));
  }
}

void write_work(const Record& r, Database& db) {
  Statement op = db.prepare("INSERT INTO ops VALUES(?, ?, ?, ?, ?, ?, ?)");
  for (const hw::OpTime& t : r.result.ops) write_row(op, t);
  Statement collective = db.prepare("INSERT INTO collectives VALUES(?, ?, ?, ?, ?, ?, ?, ?, ?)");
  for (const hw::CollectiveTime& t : r.result.collectives) write_row(collective, t);
  Statement point = db.prepare("INSERT INTO roofline VALUES(?, ?, ?, ?, ?, ?, ?, ?, ?, ?)");
  for (const RoofPoint& p : r.roofline) write_row(point, p);
  Statement stat = db.prepare("INSERT INTO stats VALUES(?, ?, ?, ?)");
  for (const Stat& s : r.stats) write_row(stat, s);
  Statement event = db.prepare("INSERT INTO events VALUES(?, ?, ?, ?, ?, ?, ?, ?, ?)");
  for (const hw::TraceEvent& e : r.result.events)
    event.run(e.rank, kTracks.at(static_cast<std::size_t>(e.track)), e.lane, e.call, e.instr, e.begin, e.end, e.waited,
              e.waited > 0 ? hw::kHoldNames[static_cast<std::size_t>(e.hold)] : "");
}

void write_all(const std::filesystem::path& path, const Record& record) {
  Database db{path, Database::Mode::kCreate};
  db.execute("PRAGMA journal_mode = OFF; PRAGMA synchronous = OFF; BEGIN");  // a crash leaves the temporary file only
  db.execute(kRecordTables);
  write_meta(record, db);
  write_machine_limits(record, db);
  write_program(record, db);
  write_calls(record, db);
  write_work(record, db);
  db.execute("CREATE INDEX events_by_call ON events(call); COMMIT");
}

void put_in_place(const std::filesystem::path& temporary, const std::filesystem::path& path) {
  const int fd = base::opened(temporary, O_RDONLY);
  const bool kept = fd >= 0 && base::synced(fd) == 0;
  if (fd >= 0) ::close(fd);
  std::error_code error = kept ? std::error_code{} : std::error_code{errno, std::generic_category()};
  if (kept) std::filesystem::rename(temporary, path, error);
  if (!error) return;
  throw base::Error{base::Fault::kEnvironment, path.string(), error.message(), "free space, or choose another folder"};
}

}  // namespace

std::string record_name(std::size_t stage) { return fmt::format("stage-{}.sqlite", stage); }

void write_record(const std::filesystem::path& to, const Record& record) {
  const base::HoldInterrupts hold;  // the temporary file goes away
  const std::filesystem::path path = std::filesystem::is_directory(to) ? to / kRecordFile : to;
  const std::filesystem::path temporary =
      path.parent_path() / fmt::format(".{}.{}", path.filename().string(), ::getpid());
  try {
    write_all(temporary, record);
    put_in_place(temporary, path);
  } catch (...) {
    std::error_code ignored;  // the first error is the one to tell
    std::filesystem::remove(temporary, ignored);
    throw;
  }
}

}  // namespace analysis
