#include "hw/run/exchanges.h"

#include <algorithm>

#include "hw/run/extent.h"
#include "isa/operands.h"

namespace hw {
namespace {

constexpr std::int64_t kCell = 64;

bool computes(const isa::Instr& instr) {
  return !isa::is_dma(instr.op) && !isa::is_collective(instr.op) && isa::reads(instr).size() > 0;
}

}  // namespace

std::uint8_t Exchanges::sort(const isa::Instr& instr, std::span<isa::Wait> waits) {
  const std::uint64_t semaphores = awaited(instr);
  note(instr);
  const auto end = std::partition(waits.begin(), waits.end(), [&](const isa::Wait& wait) {
    return wait.count > 0 && (semaphores >> wait.sem & 1) != 0;
  });
  return static_cast<std::uint8_t>(end - waits.begin());
}

std::uint64_t Exchanges::awaited(const isa::Instr& instr) {
  constexpr std::uint64_t kDma =
      ((std::uint64_t{1} << isa::kFirstCcSemaphore) - 1) & ~((std::uint64_t{1} << isa::kFirstDmaSemaphore) - 1);
  std::uint64_t out = 0;
  for (const isa::Tile* tile : isa::reads(instr)) {
    if (isa::is_dma(instr.op) && tile->space == isa::Space::kHbm) {
      const auto stored = stored_.find(tile->reg);
      if (stored != stored_.end() && is_first(stored->second, instr.label)) out |= kDma;
    }
    if (isa::is_dma(instr.op) || tile->space != isa::Space::kSbuf) continue;
    Writer last;
    for_cells(*tile, [&](const Writer& writer) {
      if (writer == last) return;
      last = writer;
      if (writer.label != kNone && is_first(writer.label, instr.label))
        out |= std::uint64_t{1} << static_cast<unsigned>(writer.engine);
    });
  }
  return out;
}

bool Exchanges::is_first(std::uint32_t writer, std::uint32_t reader) {
  return writer != reader && pairs_.emplace(writer, reader).second;
}

void Exchanges::note(const isa::Instr& instr) {
  const Writer writer = computes(instr) ? Writer{instr.label, instr.engine} : Writer{};
  for (const isa::Tile* tile : isa::writes(instr)) {
    if (tile->space == isa::Space::kHbm && isa::is_dma(instr.op)) stored_[tile->reg] = instr.label;
    if (tile->space == isa::Space::kSbuf) for_cells(*tile, [&](Writer& cell) { cell = writer; });
  }
}

template <class F>
void Exchanges::for_cells(const isa::Tile& tile, const F& f) {
  constexpr int kQuarter = 32;
  const Extent extent{tile};
  const auto end = static_cast<std::size_t>((extent.end_byte + kCell - 1) / kCell);
  for (int q = extent.first_partition / kQuarter; q <= (extent.end_partition - 1) / kQuarter; ++q) {
    std::vector<Writer>& row = cells_.at(static_cast<std::size_t>(q));
    if (row.size() < end) row.resize(end);
    for (auto c = static_cast<std::size_t>(extent.first_byte / kCell); c < end; ++c) f(row[c]);
  }
}

}  // namespace hw
