// How check_*.cpp report a broken rule.
#pragma once

#include <fmt/format.h>

#include <string>
#include <string_view>
#include <utility>

#include "isa/check/rules.h"
#include "isa/program.h"
#include "isa/target.h"

namespace isa {

template <typename... Args>
[[noreturn]] void breach(std::string_view fix, fmt::format_string<Args...> what, Args&&... args) {
  throw rule::Breach{fmt::format(what, std::forward<Args>(args)...), std::string{fix}};
}

namespace detail {

/// The rules for every instruction, besides its row's own rule: engine, operands, ALU steps, flags, waits, bounds.
void check_form(const Instr& instr, const Target& target);

/// check_form, then the row's rule. Throws rule::Breach.
void check_instr(const Instr& instr, const Target& target);

/// Bytes from the tile's address (register and offset excluded) to its lowest byte, and to the byte after its highest.
struct Extent {
  std::int64_t low = 0;
  std::int64_t high = 0;
};
Extent extent(const Tile& tile);

/// That every wait is fulfilled in time. Throws base::Error.
void check_waits(const Block& block, std::string_view program);

/// Throws base::Error for a breach at instruction `index` of `block`; `program` may be empty.
[[noreturn]] void refuse(const rule::Breach& breach, std::string_view program, const Block& block, std::size_t index);

void check_block(const Block& block, const Target& target, std::string_view program);

}  // namespace detail
}  // namespace isa
