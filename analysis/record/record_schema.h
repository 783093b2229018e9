// The tables of run.sqlite. Times in the tables are whole femtoseconds of the simulated machine since the program
// began (exact), in the views seconds.
#pragma once

namespace analysis {

inline constexpr const char* kRecordTables = R"sql(
CREATE TABLE meta(key TEXT PRIMARY KEY, value) WITHOUT ROWID;
CREATE TABLE stats(name TEXT PRIMARY KEY, value REAL, unit TEXT, text TEXT);
CREATE TABLE peaks(name TEXT PRIMARY KEY, value REAL, unit TEXT);
CREATE TABLE ranks(rank INTEGER PRIMARY KEY, total_fs INTEGER);
CREATE TABLE blocks(block INTEGER PRIMARY KEY, name TEXT, sbuf_bytes_per_partition INTEGER,
  psum_bytes_per_partition INTEGER, matmul_flops REAL);
CREATE TABLE labels(block INTEGER, label INTEGER, name TEXT, PRIMARY KEY(block, label)) WITHOUT ROWID;
CREATE TABLE regions(name TEXT, kind TEXT, dtype TEXT, shape TEXT, offset INTEGER, bytes INTEGER, first_call INTEGER,
  last_call INTEGER);
CREATE TABLE calls(call INTEGER PRIMARY KEY, block INTEGER, layer INTEGER, phase TEXT, replayed INTEGER,
  begin_fs INTEGER, end_fs INTEGER, dma_transfers INTEGER, dma_descriptors INTEGER, hbm_read_bytes INTEGER,
  hbm_written_bytes INTEGER, dma_active_fs INTEGER, dma_engine_busy_fs REAL, await_cc0 INTEGER, await_cc1 INTEGER);
CREATE TABLE engines(engine TEXT PRIMARY KEY, busy_fs INTEGER, idle_fs INTEGER, instructions INTEGER,
  wait_own_engine_fs INTEGER, wait_other_engine_fs INTEGER, wait_dma_fs INTEGER, wait_collective_fs INTEGER,
  wait_port_fs INTEGER, wait_stationary_load_fs INTEGER, wait_power_fs INTEGER, wait_barrier_fs INTEGER);
CREATE TABLE call_engines(call INTEGER, engine TEXT, busy_fs INTEGER, idle_fs INTEGER, instructions INTEGER,
  wait_own_engine_fs INTEGER, wait_other_engine_fs INTEGER, wait_dma_fs INTEGER, wait_collective_fs INTEGER,
  wait_port_fs INTEGER, wait_stationary_load_fs INTEGER, wait_power_fs INTEGER, wait_barrier_fs INTEGER,
  PRIMARY KEY(call, engine)) WITHOUT ROWID;
CREATE TABLE ops(block INTEGER, label INTEGER, opcode TEXT, engine TEXT, count INTEGER, busy_fs INTEGER,
  waiting_fs INTEGER);
CREATE TABLE collectives(opcode TEXT, queue INTEGER, ranks INTEGER, call INTEGER, bytes INTEGER, link_bytes INTEGER,
  issued_fs INTEGER, begin_fs INTEGER, end_fs INTEGER);
CREATE TABLE roofline(op TEXT PRIMARY KEY, engine TEXT, seconds REAL, matmul_flops REAL, element_flops REAL,
  hbm_bytes REAL, intensity REAL, achieved_flops_per_s REAL, roof_flops_per_s REAL, share_of_roof_percent REAL);
CREATE TABLE instrs(block INTEGER, instr INTEGER, opcode TEXT, engine TEXT, label INTEGER, queue INTEGER,
  replica_group INTEGER, signal INTEGER, hbm_bytes REAL, flops REAL, operands TEXT,
  PRIMARY KEY(block, instr)) WITHOUT ROWID;
CREATE TABLE waits(block INTEGER, instr INTEGER, position INTEGER, semaphore INTEGER, count INTEGER,
  PRIMARY KEY(block, instr, position)) WITHOUT ROWID;
CREATE TABLE events(rank INTEGER, track TEXT, lane INTEGER, call INTEGER, instr INTEGER, begin_fs INTEGER,
  end_fs INTEGER, waited_fs INTEGER, waited_for TEXT);
CREATE VIEW call_times AS SELECT call, name AS block, layer, phase, replayed, begin_fs * 1e-15 AS begin_s,
  (end_fs - begin_fs) * 1e-15 AS seconds, hbm_read_bytes, hbm_written_bytes FROM calls JOIN blocks USING(block);
CREATE VIEW op_times AS SELECT blocks.name AS block, labels.name AS op, opcode, engine, count, busy_fs * 1e-15 AS
  busy_s, waiting_fs * 1e-15 AS waiting_s FROM ops JOIN blocks USING(block) LEFT JOIN labels USING(block, label);
CREATE VIEW event_times AS SELECT rank, track, lane, call, instrs.opcode, labels.name AS op, events.begin_fs * 1e-15 AS
  begin_s, (events.end_fs - events.begin_fs) * 1e-15 AS seconds,
  waited_fs * 1e-15 AS waited_s, waited_for FROM events JOIN calls USING(call)
  JOIN instrs USING(block, instr) LEFT JOIN labels USING(block, label);
)sql";

}  // namespace analysis
