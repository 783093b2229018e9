// A Parquet file for calls, one for operations, one for collectives.
#include "analysis/export/parquet.h"
#include "analysis/export/export.h"
#include "isa/names.h"

namespace analysis {
namespace {

std::string calls_file(const Record& record) {
  std::vector<ParquetColumn> calls{{"block"},   {"layer"},   {"phase"},    {"replayed"},
                                   {"begin_s"}, {"seconds"}, {"hbm_bytes"}};
  for (const hw::CallTime& call : record.result.calls) {
    calls[0].text.push_back(record.program.blocks[call.block].name);
    calls[1].whole.push_back(call.layer);
    calls[2].text.emplace_back(isa::name_of(call.phase));
    calls[3].whole.push_back(call.replayed);
    calls[4].real.push_back(hw::seconds(call.begin));
    calls[5].real.push_back(hw::seconds(call.end - call.begin));
    calls[6].whole.push_back(static_cast<std::int64_t>(call.dma.read_bytes + call.dma.written_bytes));
  }
  return parquet_file(calls);
}

std::string ops_file(const Record& record) {
  std::vector<ParquetColumn> ops{{"block"}, {"op"}, {"opcode"}, {"engine"}, {"count"}, {"busy_s"}, {"waiting_s"}};
  for (const hw::OpTime& op : record.result.ops) {
    const isa::Block& block = record.program.blocks[op.block];
    ops[0].text.push_back(block.name);
    ops[1].text.push_back(op.label < block.labels.size() ? block.labels[op.label] : "");
    ops[2].text.emplace_back(isa::name_of(op.op));
    ops[3].text.emplace_back(isa::name_of(op.engine));
    ops[4].whole.push_back(static_cast<std::int64_t>(op.count));
    ops[5].real.push_back(hw::seconds(op.busy));
    ops[6].real.push_back(hw::seconds(op.waiting));
  }
  return parquet_file(ops);
}

std::string collectives_file(const Record& record) {
  std::vector<ParquetColumn> collectives{{"opcode"}, {"ranks"}, {"bytes"}, {"begin_s"}, {"seconds"}, {"queued_s"}};
  for (const hw::CollectiveTime& c : record.result.collectives) {
    collectives[0].text.emplace_back(isa::name_of(c.op));
    collectives[1].whole.push_back(c.ranks);
    collectives[2].whole.push_back(static_cast<std::int64_t>(c.bytes));
    collectives[3].real.push_back(hw::seconds(c.begin));
    collectives[4].real.push_back(hw::seconds(c.end - c.begin));
    collectives[5].real.push_back(hw::seconds(c.begin - c.issued));
  }
  return parquet_file(collectives);
}

std::vector<ExportFile> parquet_files(const ExportRun& run) {
  if (!run.record) return {};
  std::vector<ExportFile> out{{"calls.parquet", calls_file(*run.record)}, {"ops.parquet", ops_file(*run.record)}};
  if (!run.record->result.collectives.empty()) out.push_back({"collectives.parquet", collectives_file(*run.record)});
  return out;
}

}  // namespace

Exporter exporter_parquet() { return {"parquet", "records", parquet_files}; }

}  // namespace analysis
