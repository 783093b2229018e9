#include "runtime/nki/arrange.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <string>
#include <string_view>
#include <utility>

#include "base/error.h"
#include "base/suggest.h"
#include "runtime/compiler/lower.h"
#include "runtime/nki/passes.h"

namespace runtime::nki {
namespace {

/// Instructions that the scheduler of the newer dialect's compiler looks ahead. A chunked delta rule whose authors
/// interleave two chains by hand gains a third by it on the chip (nki-samples, eight rows on Trn1), as with 8 to 32
/// here, and nothing with 600; published softmax kernels of Trn2 need at least 8 (TileBench).
constexpr std::uint32_t kNear = 16;

/// The same error at the kernel's line, without an operator's name in front.
base::Error at_line(const base::Error& e, const std::string& name) {
  const std::string front = fmt::format("block {}, ", name);
  const std::string_view where = e.where();
  return {base::Fault::kProgram, where.starts_with(front) ? where.substr(front.size()) : where, e.problem(), e.fix()};
}

Lowered lowered(VirtualBlock&& block, const isa::Target& target, const LowerOptions& options) {
  const std::string name = block.name;
  try {
    return lower(std::move(block), target, options);
  } catch (const base::Error& e) {
    if (e.fault() != base::Fault::kCapacity) throw;
    throw at_line(e, name);
  }
}

}  // namespace

Arranged arrange(VirtualBlock block, const isa::Target& target, const ArrangeOptions& options,
                 const std::vector<LoopTrace>& loops, const std::vector<std::uint32_t>& open) {
  Arranged out;
  out.doubts = doubts(block, loops);
  const auto tensors = block.registers.size();
  const std::int64_t sbuf = target.geometry.sbuf_partition_bytes - options.reserved_sbuf;
  if (options.passes.share) share(block, open, target);
  if (options.passes.join) out.joined = join(block, loops);
  if (options.passes.forward) out.forwarded = forward(block);
  if (options.passes.fuse) {
    out.fused = fuse(block, target.geometry);
    out.fused |= shorten(block, sbuf);
  }
  if (options.passes.reuse) out.reused = reuse(block, sbuf);
  if (options.passes.reload) out.reloads = reload(block, sbuf);
  Lowered made = lowered(std::move(block), target,
                         {.reorder = options.passes.reorder,
                          .keep_room = options.passes != kAsWritten,
                          .reserved_sbuf = options.reserved_sbuf,
                          .ahead = options.passes.near ? kNear : kAhead});
  out.spills = made.allocation.spills, out.spill_bytes = made.allocation.spill_bytes;
  out.has_spill_area = made.registers.size() > tensors;
  out.block = std::move(made.block);
  for (const Instr& i : out.block.instrs) {
    if (!isa::is_dma(i.op)) continue;
    if (i.dst.space == isa::Space::kHbm && i.dst.reg >= tensors) out.saved_bytes += i.dst.bytes();
    if (i.a.space == isa::Space::kHbm && i.a.reg >= tensors) out.restored_bytes += i.a.bytes();
  }
  return out;
}
namespace {

struct NkiPass {
  std::string_view name;
  bool NkiPasses::*flag;
};

constexpr std::array kNkiPasses{
    NkiPass{"share", &NkiPasses::share},         NkiPass{"join", &NkiPasses::join},
    NkiPass{"forward", &NkiPasses::forward},     NkiPass{"fuse", &NkiPasses::fuse},
    NkiPass{"reuse", &NkiPasses::reuse},         NkiPass{"reload", &NkiPasses::reload},
    NkiPass{"reorder", &NkiPasses::reorder},     NkiPass{"near", &NkiPasses::near},
    NkiPass{"transpose", &NkiPasses::transpose},
};

}  // namespace

NkiPasses switched(NkiPasses passes, std::string_view text) {
  std::vector<std::string> names;
  for (const NkiPass& pass : kNkiPasses) names.emplace_back(pass.name);
  while (!text.empty()) {
    const std::size_t comma = std::min(text.find(','), text.size());
    const std::string_view item = text.substr(0, comma);
    const bool sign = item.starts_with('+') || item.starts_with('-');
    const std::string_view name = item.substr(sign);
    text.remove_prefix(std::min(comma + 1, text.size()));
    const auto found = std::ranges::find(kNkiPasses, name, &NkiPass::name);
    if (found == kNkiPasses.end() || !sign)
      throw base::Error{
          base::Fault::kUsage, "`passes`", fmt::format("'{}' switches no pass on or off", item),
          found == kNkiPasses.end() ? base::suggest_fix(name, names) : fmt::format("write +{} or -{}", name, name)};
    passes.*(found->flag) = item[0] == '+';
  }
  return passes;
}

}  // namespace runtime::nki
