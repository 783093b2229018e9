#include "hw/run/exchanges.h"

#include <algorithm>

#include "hw/run/extent.h"
#include "isa/operands.h"

namespace hw {
namespace {

bool is_on_chip(const isa::Tile& tile) { return tile.space == isa::Space::kSbuf || tile.space == isa::Space::kPsum; }

}  // namespace

std::uint8_t Exchanges::sort(const isa::Instr& instr, std::span<isa::Wait> waits) {
  find_read(instr);
  std::vector<std::uint32_t> key{instr.label};
  for (const Cell& cell : read_) key.push_back(2 * cell.origin + (cell.whole ? 1 : 0));
  std::ranges::sort(key.begin() + 1, key.end());
  const auto [known, is_new] = known_.try_emplace(std::move(key), 0);
  const std::uint64_t semaphores = is_new ? awaited(instr) : 0;
  if (is_new) known->second = origin_of(instr);
  note(instr, known->second);
  const auto end = std::partition(waits.begin(), waits.end(), [&](const isa::Wait& wait) {
    return wait.count > 0 && (semaphores >> wait.sem & 1) != 0;
  });
  return static_cast<std::uint8_t>(end - waits.begin());
}

void Exchanges::find_read(const isa::Instr& instr) {
  read_.clear();
  Cell last;
  const auto add = [&](const Cell& cell) {
    if (cell == last || cell.origin == 0) return;
    last = cell;
    if (std::ranges::find(read_, cell) == read_.end()) read_.push_back(cell);
  };
  for (const isa::Tile* tile : isa::reads(instr)) {
    const bool loads = tile->space == isa::Space::kHbm;
    const auto stored = loads ? stored_.find(tile->reg) : stored_.end();
    if (stored != stored_.end()) add({.origin = stored->second, .in_hbm = true});
    const bool own = isa::is_dma(instr.op) || tile->space == isa::Space::kPsum;
    if (!loads) for_cells(*tile, [&](Cell cell) { cell.whole |= own, add(cell); });
  }
}

std::uint64_t Exchanges::awaited(const isa::Instr& instr) {
  constexpr std::uint64_t kDma =
      ((std::uint64_t{1} << isa::kFirstCcSemaphore) - 1) & ~((std::uint64_t{1} << isa::kFirstDmaSemaphore) - 1);
  std::uint64_t out = 0;
  for (const Cell& cell : read_)
    if (!cell.whole && is_first(origins_[cell.origin], instr.label))
      out |= cell.in_hbm ? kDma : std::uint64_t{1} << static_cast<unsigned>(cell.engine);
  return out;
}

bool Exchanges::is_first(const Origin& writer, std::uint32_t reader) {
  return writer.label != reader && pairs_.emplace(writer.label, writer.layer, reader).second;
}

std::uint32_t Exchanges::origin_of(const isa::Instr& instr) {
  Origin out;
  out.label = instr.label;
  bool returns = false;
  for (const Cell& cell : read_) {
    const Origin& from = origins_[cell.origin];
    if (from.layer < out.layer) continue;
    if (from.layer > out.layer) out.layer = from.layer, out.passed.clear(), returns = false;
    const bool has_been_here = instr.label < from.passed.size() && from.passed[instr.label];
    returns |= has_been_here && from.label != instr.label;
    if (out.passed.size() < from.passed.size()) out.passed.resize(from.passed.size());
    for (std::size_t i = 0; i < from.passed.size(); ++i)
      if (from.passed[i]) out.passed[i] = true;
  }
  if (returns) ++out.layer, out.passed.clear();
  if (out.passed.size() <= instr.label) out.passed.resize(instr.label + 1);
  out.passed[instr.label] = true;
  const auto [known, is_new] = numbers_.try_emplace(out, static_cast<std::uint32_t>(origins_.size()));
  if (is_new) origins_.push_back(std::move(out));
  return known->second;
}

void Exchanges::note(const isa::Instr& instr, std::uint32_t origin) {
  const bool dma = isa::is_dma(instr.op), stores = dma && is_on_chip(instr.a);
  Cell cell{.engine = instr.engine, .whole = dma && !stores};
  if (dma && !stores)
    cell.origin = read_.empty() ? 0 : read_.front().origin;
  else if (isa::reads(instr).size() > 0 && !isa::is_collective(instr.op))
    cell.origin = origin;
  for (const isa::Tile* tile : isa::writes(instr)) {
    if (tile->space == isa::Space::kHbm && stores) stored_[tile->reg] = cell.origin;
    if (is_on_chip(*tile)) for_cells(*tile, [&](Cell& to) { to = cell; });
  }
}

template <class F>
void Exchanges::for_cells(const isa::Tile& tile, const F& f) {
  constexpr int kQuarter = 32;
  constexpr std::int64_t kCell = 64;
  const Extent extent{tile};
  const auto end = static_cast<std::size_t>((extent.end_byte + kCell - 1) / kCell);
  for (int q = extent.first_partition / kQuarter; q <= (extent.end_partition - 1) / kQuarter; ++q) {
    std::vector<Cell>& row = cells_.at(tile.space == isa::Space::kSbuf ? 0 : 1).at(static_cast<std::size_t>(q));
    if (row.size() < end) row.resize(end);
    for (auto c = static_cast<std::size_t>(extent.first_byte / kCell); c < end; ++c) f(row[c]);
  }
}

}  // namespace hw
