#include <fmt/format.h>

#include <bit>
#include <cmath>
#include <iterator>
#include <unordered_map>

#include "isa/asm.h"
#include "isa/names.h"
#include "isa/text/cursor.h"

namespace isa {
namespace {

template <typename... Args>
void put(std::string& out, fmt::format_string<Args...> format, Args&&... args) {
  fmt::format_to(std::back_inserter(out), format, std::forward<Args>(args)...);
}

std::string_view dtype_text(Dtype dtype) {
  return static_cast<std::size_t>(dtype) < kDtypeCount ? name_of(dtype) : "?";
}

/// Shortest digits that read back to the same bits; NaN with its payload.
void put_float(std::string& out, float value) {
  if (std::isnan(value))
    put(out, "nan:{:08x}", std::bit_cast<std::uint32_t>(value));
  else
    put(out, "{}", value);
}

/// Where the tile begins: "4096" on chip, "r3+0x100" in HBM.
void put_offset(std::string& out, const Tile& tile) {
  if (tile.space != Space::kHbm && tile.reg == 0) {
    put(out, "{}", tile.offset);
    return;
  }
  put(out, "r{}", tile.reg);
  if (tile.offset == 0) return;
  const std::uint64_t size = tile.offset < 0 ? 0 - static_cast<std::uint64_t>(tile.offset) : tile.offset;
  put(out, "{}0x{:x}", tile.offset < 0 ? '-' : '+', size);
}

void put_tile(std::string& out, const Tile& tile) {
  if (!tile) {
    out += '_';
    return;
  }
  put(out, "{}[{}:{}", name_of(tile.space), tile.start, tile.start + tile.partitions);
  if (tile.pstep != 0) put(out, "/{}", tile.pstep);
  out += ", ";
  put_offset(out, tile);
  for (std::size_t d = 0; d < std::min<std::size_t>(tile.rank, tile.free.size()); ++d) {
    put(out, ", {}", tile.free[d].size);
    if (tile.free[d].step != 1) put(out, "@{}", tile.free[d].step);
  }
  put(out, "]{}", dtype_text(tile.dtype));
}

/// "x, y" up to the last one that is there; nothing when none is.
void put_tiles(std::string& out, std::string_view lead, std::initializer_list<const Tile*> tiles) {
  std::size_t count = 0, last = 0;
  for (const Tile* tile : tiles) {
    ++count;
    if (*tile) last = count;
  }
  for (std::size_t i = 0; i < last; ++i) {
    out += i == 0 ? lead : ", ";
    put_tile(out, *tiles.begin()[i]);
  }
}

void put_functions(std::string& out, const Instr& instr) {
  const bool activation = instr.op == Opcode::kActivation || instr.op == Opcode::kActivationReduce;
  if (activation || instr.fn != Fn::kCopy) put(out, " {}", name_of(instr.fn));
  if (instr.alu0 != Alu::kNone || instr.alu1 != Alu::kNone) put(out, " {}", name_of(instr.alu0));
  if (instr.alu1 != Alu::kNone) put(out, " {}", name_of(instr.alu1));
  if (instr.reverse0) out += " reverse0";
  if (instr.reverse1) out += " reverse1";
  if (instr.accumulate) out += " accumulate";
  if (instr.negate) out += " negate";
  if (instr.skip) out += " skip";
  if (instr.integers) out += " integers";
  if (instr.onezero) out += " onezero";
  if (instr.bitwise) out += " bitwise";
  if (instr.registers != Registers::kDefault) put(out, " registers={}", name_of(instr.registers));
  if (instr.pe != PeTile{}) put(out, " pe={}+{},{}+{}", instr.pe.row, instr.pe.rows, instr.pe.column, instr.pe.columns);
}

void put_numbers(std::string& out, const Instr& instr) {
  int index = 0;
  for (const float imm : {instr.imm0, instr.imm1, instr.imm2, instr.imm3}) {
    const int i = index++;
    if (std::bit_cast<std::uint32_t>(imm) == 0) continue;
    put(out, " imm{}=", i);
    put_float(out, imm);
  }
  for (std::size_t k = 0; k < instr.ints.size(); ++k)
    if (instr.ints[k] != 0) put(out, " int{}={}", k, instr.ints[k]);
  for (std::size_t d = 0; d < instr.steps.size(); ++d)
    if (instr.steps[d] != 0) put(out, " step{}={}", d, instr.steps[d]);
  const bool queued = is_dma(instr.op) || is_collective(instr.op);
  if (queued || instr.queue != 0) put(out, " queue={}", instr.queue);
  if (is_collective(instr.op) || instr.group != 0) put(out, " group={}", instr.group);
  if (instr.peer != 0) put(out, " peer={}", instr.peer);
  if (instr.alike != 0) put(out, " alike={}", instr.alike);
  if (instr.rng != 0) put(out, " rng={}", instr.rng);
}

/// Everything but the label.
void put_instr(std::string& out, const Instr& instr) {
  put(out, "{} {}", name_of(instr.engine), name_of(instr.op));
  put_functions(out, instr);
  put_tiles(out, " ", {&instr.dst, &instr.dst2});
  put_tiles(out, " <- ", {&instr.a, &instr.b, &instr.c});
  put_numbers(out, instr);
  if (instr.wait_count > 0) out += " wait";
  for (std::size_t w = 0; w < std::min<std::size_t>(instr.wait_count, instr.waits.size()); ++w)
    put(out, " {}>={}", semaphore_name(instr.waits[w].sem), instr.waits[w].count);
  if (instr.signal) out += " signal";
}

/// Which index a label name reads back to: its first place, and only a name that the grammar can show plainly.
using LabelIndex = std::unordered_map<std::string_view, std::uint32_t>;

LabelIndex index_labels(const Block& block) {
  LabelIndex index;
  for (std::uint32_t i = 0; i < block.labels.size(); ++i)
    if (asm_text::is_plain_label(block.labels[i])) index.try_emplace(block.labels[i], i);
  return index;
}

void put_label(std::string& out, const Instr& instr, const Block& block, const LabelIndex& index) {
  if (instr.label < block.labels.size()) {
    const auto found = index.find(block.labels[instr.label]);
    if (found != index.end() && found->second == instr.label) {
      put(out, " ; {}", found->first);
      return;
    }
  }
  if (instr.label != 0) put(out, " label={}", instr.label);
}

void put_string(std::string& out, std::string_view text) {
  out += '"';
  for (const char c : text) {
    if (c == '"' || c == '\\')
      put(out, "\\{}", c);
    else if (static_cast<unsigned char>(c) < 0x20 || c == 0x7f)
      put(out, "\\x{:02x}", static_cast<unsigned char>(c));
    else
      out += c;
  }
  out += '"';
}

void put_block(std::string& out, const Block& block) {
  out += "block ";
  put_string(out, block.name);
  put(out, " registers={} sbuf_bytes={} psum_bytes={} matmul_flops={}\n", block.registers, block.sbuf_bytes,
      block.psum_bytes, block.matmul_flops);
  for (const std::string& label : block.labels) {
    out += "  label ";
    put_string(out, label);
    out += '\n';
  }
  const LabelIndex index = index_labels(block);
  for (const Instr& instr : block.instrs) {
    out += "  ";
    put_instr(out, instr);
    put_label(out, instr, block, index);
    out += '\n';
  }
  out += "end\n";
}

template <typename Items>
void put_list(std::string& out, const Items& items) {
  out += '[';
  std::string_view gap;
  for (const auto& item : items) {
    put(out, "{}{}", gap, item);
    gap = " ";
  }
  out += ']';
}

void put_header(std::string& out, const Program& program) {
  out += "program ";
  put_string(out, program.name);
  put(out, " ranks={} hbm_bytes={} rounding={} model_flops={}\n", program.ranks, program.hbm_bytes,
      name_of(program.rounding), program.model_flops);
  if (program.own_ranks > 0) put(out, "runs_on first={} ranks={}\n", program.first_rank, program.own_ranks);
  for (const auto& group : program.groups) {
    out += "group";
    for (const auto& ranks : group) {
      out += ' ';
      put_list(out, ranks);
    }
    out += '\n';
  }
  for (const Region& region : program.regions) {
    out += "region ";
    put_string(out, region.name);
    out += ' ';
    put_string(out, region.kind);
    put(out, " {} ", dtype_text(region.dtype));
    put_list(out, region.shape);
    put(out, " offset={} bytes={}\n", region.offset, region.bytes);
  }
}

void put_call(std::string& out, const Call& call, const Program& program) {
  put(out, "call {} ", call.block);
  put_list(out, call.bases);
  put(out, " rng={} layer={} phase={} await=", call.rng, call.layer, name_of(call.phase));
  put_list(out, call.await);
  if (call.block < program.blocks.size() && asm_text::is_plain_label(program.blocks[call.block].name))
    put(out, "  # {}", program.blocks[call.block].name);
  out += '\n';
}

}  // namespace

std::string print(const Tile& tile) {
  std::string out;
  put_tile(out, tile);
  return out;
}

std::string print(const Instr& instr) {
  std::string out;
  put_instr(out, instr);
  if (instr.label != 0) put(out, " label={}", instr.label);
  return out;
}

std::string print(const Instr& instr, const Block& block) {
  std::string out;
  put_instr(out, instr);
  put_label(out, instr, block, index_labels(block));
  return out;
}

std::string print(const Block& block) {
  std::string out;
  put_block(out, block);
  return out;
}

std::string print(const Program& program) {
  std::string out;
  put_header(out, program);
  for (const Block& block : program.blocks) put_block(out, block);
  for (const Call& call : program.calls) put_call(out, call, program);
  return out;
}

}  // namespace isa
