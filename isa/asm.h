// The readable text of instructions, blocks and programs, both ways. Grammar: docs/asm.md.
#pragma once

#include <string>
#include <string_view>

#include "isa/program.h"

namespace isa {

/// One line without a newline. parse_instr(print(x)) == x, floats bit for bit, when x has no garbage in unused
/// parts: axes beyond a tile's rank, waits beyond wait_count, fields of an absent tile. `label` shows as
/// label=INDEX.
std::string print(const Instr& instr);
/// The same after `; ` and the name of its label in `block`.
std::string print(const Instr& instr, const Block& block);
std::string print(const Block& block);
std::string print(const Program& program);
std::string print(const Tile& tile);

/// Errors: Fault::kProgram at "<source>:<line>:<column>", with a suggestion when a name is nearly right.
Instr parse_instr(std::string_view text, std::string_view source = "asm");
Block parse_block(std::string_view text, std::string_view source = "asm");
Program parse_program(std::string_view text, std::string_view source = "asm");

}  // namespace isa
