// write_record(): one transaction into a file beside the final one, then a rename.
#include <fcntl.h>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <unistd.h>

#include <system_error>

#include "analysis/record/record.h"
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

void write_meta(const Record& r, Database& db) {
  Statement meta = db.prepare("INSERT INTO meta VALUES(?, ?)");
  const RecordInfo& info = r.info;
  meta.run("record_schema", kRecordSchema);
  meta.run("trnsim", info.trnsim);
  meta.run("workload", info.workload);
  meta.run("command", info.command);
  meta.run("instance_type", info.instance_type);
  meta.run("instances", info.instances);
  meta.run("cores_per_chip", info.cores_per_chip);
  meta.run("hbm_bytes_per_core", info.hbm_bytes_per_core);
  meta.run("machine_hash", base::hash_text(info.machine_hash));
  meta.run("machine_toml", info.machine_toml);
  meta.run("stage", info.stage);
  meta.run("stages", info.stages);
  meta.run("micro_batches", info.micro_batches);
  meta.run("recorded_micro_batches", info.recorded_micro_batches);
  meta.run("trace_from_fs", info.trace_from);
  meta.run("trace_until_fs", info.trace_until);
  meta.run("trace_layer", info.trace_layer);
  meta.run("program", r.program.name);
  meta.run("ranks", r.program.ranks);
  meta.run("rounding", isa::name_of(r.program.rounding));
  meta.run("program_hbm_bytes", r.program.hbm_bytes);
  meta.run("model_flops", r.program.model_flops);
  meta.run("matmul_flops", r.result.matmul_flops);
  meta.run("transpose_flops", r.utilisation.transpose_flops);
  meta.run("total_fs", r.result.total);
  meta.run("lead_in_fs", r.result.lead_in);
  meta.run("rank", r.result.rank);
  meta.run("cores_simulated", r.result.cores);
  meta.run("exact", r.result.exact);
  meta.run("instructions_simulated", r.result.instructions);
  meta.run("replayed_calls", r.result.replayed_calls);
  meta.run("collective_active_fs", r.result.collective_active);
  meta.run("collective_exposed_fs", r.result.collective_exposed);
  meta.run("dropped_events", r.result.dropped_events);
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
    block.run(b, one.name, one.sbuf_bytes, one.psum_bytes, one.matmul_flops);
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

/// Binds the columns of an EngineTime after `key`.
template <class... Key>
void write_engine(Statement& statement, const hw::EngineTime& t, const Key&... key) {
  const auto& w = t.waiting;
  static_assert(hw::kHoldCount == 8, "a cause of waiting is a column of the tables: add it there");
  statement.run(key..., t.busy, t.idle, t.instructions, w[0], w[1], w[2], w[3], w[4], w[5], w[6], w[7]);
}

void write_calls(const Record& r, Database& db) {
  Statement engine = db.prepare("INSERT INTO engines VALUES(?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)");
  Statement call = db.prepare("INSERT INTO calls VALUES(?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)");
  Statement part = db.prepare("INSERT INTO call_engines VALUES(?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)");
  const auto name = [](int e) { return isa::name_of(static_cast<isa::Engine>(e)); };
  for (int e = 0; e < isa::kEngineCount; ++e) write_engine(engine, r.result.engines[e], name(e));
  for (std::size_t c = 0; c < r.result.calls.size(); ++c) {
    const hw::CallTime& t = r.result.calls[c];
    const auto& await = r.program.calls[c].await;
    static_assert(isa::kCcQueues == 2, "a queue is a column of the table: add it there");
    call.run(c, t.block, t.layer, isa::name_of(t.phase), t.replayed, t.begin, t.end, t.dma.transfers, t.dma.descriptors,
             t.dma.read_bytes, t.dma.written_bytes, t.dma.active, t.dma.engine_busy, await[0], await[1]);
    for (int e = 0; e < isa::kEngineCount; ++e) write_engine(part, t.engines[e], c, name(e));
  }
}

void write_work(const Record& r, Database& db) {
  Statement op = db.prepare("INSERT INTO ops VALUES(?, ?, ?, ?, ?, ?, ?)");
  for (const hw::OpTime& t : r.result.ops)
    op.run(t.block, t.label, isa::name_of(t.op), isa::name_of(t.engine), t.count, t.busy, t.waiting);
  Statement collective = db.prepare("INSERT INTO collectives VALUES(?, ?, ?, ?, ?, ?, ?, ?, ?)");
  for (const hw::CollectiveTime& t : r.result.collectives)
    collective.run(isa::name_of(t.op), t.queue, t.ranks, t.call, t.bytes, t.link_bytes, t.issued, t.begin, t.end);
  Statement point = db.prepare("INSERT INTO roofline VALUES(?, ?, ?, ?, ?, ?, ?, ?, ?, ?)");
  for (const RoofPoint& p : r.roofline)
    point.run(p.op, p.engine, p.seconds, p.matmul_flops, p.element_flops, p.hbm_bytes, p.intensity, p.achieved, p.roof,
              p.share_of_roof);
  Statement stat = db.prepare("INSERT INTO stats VALUES(?, ?, ?, ?)");
  for (const Stat& s : r.stats) stat.run(s.name, s.value, s.unit, s.text);
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
