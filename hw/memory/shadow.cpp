#include "hw/memory/shadow.h"

#include <fmt/format.h>
#include <sys/mman.h>

#include <cstdlib>
#include <numeric>
#include <utility>

#include "base/error.h"
#include "isa/operands.h"

namespace hw {

Shadow::Shadow(int granule, std::uint64_t hbm_bytes) : granule_{granule} {
  psum_first_ = static_cast<std::uint64_t>(isa::kPartitions * isa::kMostSbufPartitionBytes / granule);
  hbm_first_ = psum_first_ + static_cast<std::uint64_t>(isa::kPartitions * isa::kMostPsumPartitionBytes / granule);
  bytes_ = (hbm_first_ + hbm_bytes / static_cast<std::uint64_t>(granule) + 1) * sizeof(Writer);
  void* mapped = ::mmap(nullptr, bytes_, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (mapped == MAP_FAILED)
    throw base::Error{base::Fault::kCapacity, "race check", fmt::format("cannot reserve {} bytes", bytes_),
                      "check a smaller program, or run without `check_races`"};
  writers_ = static_cast<Writer*>(mapped);
}

Shadow::Shadow(Shadow&& other) noexcept
    : granule_{other.granule_},
      bytes_{other.bytes_},
      psum_first_{other.psum_first_},
      hbm_first_{other.hbm_first_},
      writers_{std::exchange(other.writers_, nullptr)} {}

Shadow::~Shadow() {
  if (writers_) ::munmap(writers_, bytes_);
}

Shadow::Writer* Shadow::at(isa::Space space, std::int64_t byte) {
  const auto granule = static_cast<std::uint64_t>(byte / granule_);
  switch (space) {
    case isa::Space::kSbuf: return writers_ + granule;
    case isa::Space::kPsum: return writers_ + psum_first_ + granule;
    default: return writers_ + hbm_first_ + granule;
  }
}

int shadow_granule(const isa::Program& program) {
  std::int64_t common = 4;
  const auto fold = [&](std::int64_t bytes) { common = std::gcd(common, bytes); };
  for (const isa::Call& call : program.calls) {
    for (const auto base : call.bases) fold(static_cast<std::int64_t>(base % 4));
  }
  for (const isa::Block& block : program.blocks) {
    for (const isa::Instr& instr : block.instrs) {
      for (const isa::Tile* tile : {&instr.dst, &instr.dst2, &instr.a, &instr.b, &instr.c}) {
        if (!*tile) continue;
        const std::int64_t size = isa::size_of(tile->dtype);
        fold(tile->offset);
        fold(tile->pstep);
        std::int64_t run = 1;
        int d = tile->rank;
        while (d > 0 && (tile->free[d - 1].size == 1 || tile->free[d - 1].step == run)) run *= tile->free[--d].size;
        fold(run * size);
        for (; d > 0; --d) fold(tile->free[d - 1].step * size);
      }
    }
  }
  return static_cast<int>(common);
}

bool may_overlap(const isa::Tile& x, const isa::Tile& y, std::span<const std::uint64_t> bases) {
  if (!x || !y || x.space != y.space) return false;
  const auto bytes_of = [&](const isa::Tile& t) {
    std::int64_t first = t.offset, end = t.offset + isa::size_of(t.dtype);
    const auto stretch = [&](std::int64_t span) { (span < 0 ? first : end) += span; };
    for (int d = 0; d < t.rank; ++d)
      stretch(std::int64_t{t.free[d].step} * (std::int64_t{t.free[d].size} - 1) * isa::size_of(t.dtype));
    if (t.space == isa::Space::kHbm) {
      stretch(t.pstep * (t.partitions - 1));
      first += static_cast<std::int64_t>(bases[t.reg]);
      end += static_cast<std::int64_t>(bases[t.reg]);
    }
    return std::pair{first, end};
  };
  const auto [x_first, x_end] = bytes_of(x);
  const auto [y_first, y_end] = bytes_of(y);
  const bool rows =
      x.space == isa::Space::kHbm || (x.start < y.start + y.partitions && y.start < x.start + x.partitions);
  return rows && x_first < y_end && y_first < x_end;
}

}  // namespace hw
