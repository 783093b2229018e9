// Blocks that projections of jobs on several machines share.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <string>

#include "hw/params.h"
#include "trnsim/project/stages.h"

namespace trnsim {

/// One set of blocks for each kind of core, and the times of its blocks for each machine.
class KnownBlocks {
 public:
  /// About `open` instructions stay unpacked (runtime::BlockCache), all of one kind of core.
  explicit KnownBlocks(std::size_t open = runtime::BlockCache::kOpen) : open_{open} {}

  KnownBlocks(const KnownBlocks&) = delete;
  KnownBlocks& operator=(const KnownBlocks&) = delete;

  /// For the next projection on `machine`.
  SharedBlocks& of(const hw::MachineParams& machine) {
    Kind& kind = kinds_.try_emplace(text_of(machine.target()), machine.target(), open_).first->second;
    if (last_ && last_ != &kind) last_->blocks.compiled.pack_idle();
    last_ = &kind;
    if (kind.machine != machine.hash) {
      kind.times[kind.machine] = std::move(kind.blocks.times);
      kind.blocks.times = std::move(kind.times[machine.hash]);
      kind.machine = machine.hash;
    }
    return kind.blocks;
  }

 private:
  struct Kind {
    Kind(const isa::Target& target, std::size_t open) : blocks{target, SharedBlocks::kKept, open} {}
    SharedBlocks blocks;
    std::uint64_t machine = 0;                      // whose times `blocks` has
    std::map<std::uint64_t, hw::BlockTimes> times;  // of the others
  };
  const std::size_t open_;
  std::map<std::string, Kind> kinds_;
  Kind* last_ = nullptr;  // which the last projection used
};

}  // namespace trnsim
