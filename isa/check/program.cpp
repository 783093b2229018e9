#include <algorithm>
#include <array>
#include <map>
#include <numeric>
#include <set>
#include <vector>

#include "base/error.h"
#include "base/text.h"
#include "isa/check.h"
#include "isa/check/breach.h"
#include "isa/names.h"

namespace isa {

using Counts = std::array<std::uint32_t, kCcQueues>;

/// The bytes that a block touches behind one register, and which instruction reaches furthest up and down.
struct Reach {
  std::int64_t low = 0, high = 0;
  std::size_t lowest = 0, highest = 0;
};

/// Facts about a valid block that the checks of programs need.
struct BlockFacts {
  std::map<std::uint32_t, Reach> registers;  // those that it uses: a text may name any number of them
  std::vector<std::size_t> collectives;      // instructions
  Counts issues{};                           // how many of each queue
};

namespace {

[[noreturn]] void refuse_at(const Program& program, std::string_view place, const rule::Breach& breach) {
  throw base::Error{base::Fault::kProgram, fmt::format("program \"{}\" {}", program.name, place), breach.what,
                    breach.fix};
}

/// Every rank belongs to at most one list of each group, and all lists of a group are as long. Where all ranks run one
/// program, every rank belongs to one.
void check_group(const std::vector<std::vector<std::uint32_t>>& group, std::uint32_t ranks, bool all) {
  std::set<std::uint32_t> seen;  // a text may name any number of ranks
  for (const auto& list : group) {
    if (list.empty() || list.size() != group.front().size())
      breach("give every list as many ranks", "its lists have different lengths, or none");
    for (const std::uint32_t rank : list) {
      if (rank >= ranks) breach("name a rank of the program", "rank {} does not exist: there are {}", rank, ranks);
      if (!seen.insert(rank).second) breach("name each rank once", "rank {} is in it twice", rank);
    }
  }
  if (!all || seen.size() == ranks) return;
  std::uint32_t missing = 0;
  while (seen.contains(missing)) ++missing;
  breach("add it to a list", "rank {} is in no list and would wait forever", missing);
}

void check_groups(const Program& program) {
  if (program.ranks == 0) refuse_at(program, "ranks", {"it has no rank", "give it at least one"});
  if (program.first_rank >= program.end_rank() || program.end_rank() > program.ranks)
    refuse_at(program, "ranks",
              {fmt::format("it runs on ranks {} to {} of {}", program.first_rank, program.end_rank(), program.ranks),
               "name ranks that exist"});
  for (std::size_t g = 0; g < program.groups.size(); ++g) try {
      check_group(program.groups[g], program.ranks, program.own_ranks == 0);
    } catch (const rule::Breach& breach) {
      refuse_at(program, fmt::format("replica group {}", g), breach);
    }
}

/// Element counts, peers and roots, now that the size of the group is known.
void check_collective(const Instr& i, const Program& program) {
  if (i.group >= program.groups.size())
    breach("add the group to the program", "replica group {} does not exist: there are {}", i.group,
           program.groups.size());
  for (std::uint32_t rank = program.first_rank; rank < program.end_rank(); ++rank)
    if (std::ranges::none_of(program.groups[i.group], [&](const auto& list) { return std::ranges::count(list, rank); }))
      breach("add it to a list", "rank {} is in no list of replica group {} and would wait forever", rank, i.group);
  const auto size = static_cast<std::int64_t>(program.groups[i.group].front().size());
  const std::int64_t in = i.a.elements(), out = i.dst.elements();
  if (i.op == Opcode::kAllGather && out != size * in)
    breach("make it that", "dst has {} elements, {} ranks give {}", out, size, size * in);
  if (i.op == Opcode::kReduceScatter && in != size * out)
    breach("make it that", "a has {} elements, {} ranks take {}", in, size, size * out);
  if (i.op == Opcode::kAllToAll && in % size != 0)
    breach("pad it", "a has {} elements, which is not a multiple of the {} ranks", in, size);
  if (between_two(i.op) && i.peer >= size)
    breach("name one below that", "peer {} is not in a group of {}", i.peer, size);
  const bool root = i.imm0 >= 0 && i.imm0 < static_cast<float>(size) && i.imm0 == static_cast<float>(int(i.imm0));
  if (i.op == Opcode::kBroadcast && !root)
    breach("name one below that", "the root imm0 = {} is not a rank in a group of {}", i.imm0, size);
}

std::map<std::uint32_t, Reach> reaches(const Block& block) {
  std::map<std::uint32_t, Reach> out;
  for (std::size_t i = 0; i < block.instrs.size(); ++i) {
    const Instr& instr = block.instrs[i];
    for (const Tile* tile : {&instr.dst, &instr.dst2, &instr.a, &instr.b, &instr.c}) {
      if (tile->space != Space::kHbm) continue;
      const detail::Extent extent = detail::extent(*tile);
      const std::int64_t low = tile->offset + extent.low, high = tile->offset + extent.high;
      const auto [place, first] = out.try_emplace(tile->reg);
      Reach& reach = place->second;
      if (first || low < reach.low) reach.low = low, reach.lowest = i;
      if (first || high > reach.high) reach.high = high, reach.highest = i;
    }
  }
  return out;
}

void check_addresses(const Program& program, std::size_t index, const std::map<std::uint32_t, Reach>& registers) {
  const Call& call = program.calls[index];
  const Block& block = program.blocks[call.block];
  for (const auto& [r, reach] : registers) {
    const std::uint64_t base = call.bases[r];
    const bool below = reach.low < 0 && base < static_cast<std::uint64_t>(-reach.low);
    const bool above = base > program.hbm_bytes || reach.high > static_cast<std::int64_t>(program.hbm_bytes - base);
    if (below || above)
      detail::refuse({fmt::format("in call {}, r{} = 0x{:x}, it leaves the program's {} bytes of HBM", index, r, base,
                                  program.hbm_bytes),
                      "correct the call's base address, or give the program more HBM"},
                     program.name, block, below ? reach.lowest : reach.highest);
  }
}

void check_call(const Program& program, std::size_t index) {
  const Call& call = program.calls[index];
  if (call.block >= program.blocks.size())
    breach("name a block that exists", "block {} does not exist: there are {}", call.block, program.blocks.size());
  const Block& block = program.blocks[call.block];
  if (call.bases.size() != block.registers)
    breach("supply one address per register", "it supplies {}, block \"{}\" has {}",
           base::counted(call.bases.size(), "address"), block.name, base::counted(block.registers, "register"));
}

void check_await(const Call& call, const Counts& issued) {
  for (std::size_t q = 0; q < issued.size(); ++q)
    if (call.await[q] > issued[q])
      breach("await fewer", "it awaits {} of queue {}, but earlier calls issue {}",
             base::counted(call.await[q], "collective"), q, issued[q]);
}

BlockFacts facts_of(const Block& block) {
  BlockFacts out{.registers = reaches(block), .collectives = {}};
  for (std::size_t i = 0; i < block.instrs.size(); ++i) {
    if (!is_collective(block.instrs[i].op)) continue;
    out.collectives.push_back(i);
    ++out.issues[block.instrs[i].queue];
  }
  return out;
}

void check_calls(const Program& program, const std::vector<std::shared_ptr<const BlockFacts>>& blocks) {
  Counts issued{};
  for (std::size_t c = 0; c < program.calls.size(); ++c) {
    try {
      check_call(program, c);
      check_await(program.calls[c], issued);
    } catch (const rule::Breach& breach) {
      refuse_at(program, fmt::format("call {}", c), breach);
    }
    const BlockFacts& facts = *blocks[program.calls[c].block];
    check_addresses(program, c, facts.registers);
    for (std::size_t q = 0; q < issued.size(); ++q) issued[q] += facts.issues[q];
  }
}

void check_region(const Region& region, std::uint64_t hbm_bytes) {
  std::uint64_t bytes = static_cast<std::uint64_t>(size_of(region.dtype));
  for (const std::int64_t size : region.shape) bytes *= static_cast<std::uint64_t>(size);
  if (region.bytes < bytes) breach("make it larger", "it has {} bytes, but its shape needs {}", region.bytes, bytes);
  if (region.offset > hbm_bytes || region.bytes > hbm_bytes - region.offset)
    breach("give the program more HBM", "it ends at byte {}, but the program has {}", region.offset + region.bytes,
           hbm_bytes);
}

}  // namespace

void require_together(const Programs& programs) {
  base::ensure(!programs.empty(), "programs", "the list is empty");
  const Program& first = *programs.front();
  std::vector<const Program*> runs(first.ranks);
  for (const Program* program : programs) {
    if (program->ranks != first.ranks || program->groups != first.groups || program->rounding != first.rounding)
      refuse_at(*program, "ranks",
                {fmt::format("its ranks, replica groups or rounding are not those of \"{}\"", first.name),
                 "compile programs that run together with the same"});
    for (std::uint32_t rank = program->first_rank; rank < program->end_rank(); ++rank) {
      if (rank >= first.ranks || runs[rank])
        refuse_at(*program, "ranks",
                  {fmt::format("rank {} does not exist or runs another program", rank), "give each rank one program"});
      runs[rank] = program;
    }
  }
  const auto idle = std::ranges::find(runs, nullptr);
  if (idle != runs.end())
    refuse_at(first, "ranks",
              {fmt::format("rank {} runs no program", idle - runs.begin()), "give each rank one program"});
}

Checker::Facts Checker::read(const Block& block, const Program& program) {
  const Instrs::Identity instrs = block.instrs.identity();
  if (const auto found = known_.find(instrs); found != known_.end()) return found->second;
  const ReadOnce reading{block.instrs};
  detail::check_block(block, target_, program.name);
  const auto facts = std::make_shared<const BlockFacts>(facts_of(block));
  std::erase_if(known_, [](const auto& entry) { return entry.first.expired(); });
  if (instrs) known_[instrs] = facts;
  return facts;
}

void Checker::check(const Program& program) {
  check_groups(program);
  for (const Region& region : program.regions) try {
      check_region(region, program.hbm_bytes);
    } catch (const rule::Breach& breach) {
      refuse_at(program, fmt::format("region \"{}\"", region.name), breach);
    }
  std::vector<Facts> blocks;
  for (const Block& block : program.blocks) {
    blocks.push_back(read(block, program));
    for (const std::size_t i : blocks.back()->collectives) try {
        check_collective(block.instrs[i], program);
      } catch (const rule::Breach& breach) {
        detail::refuse(breach, program.name, block, i);
      }
  }
  check_calls(program, blocks);
}

void check(const Program& program, const Target& target) { Checker{target}.check(program); }

}  // namespace isa
