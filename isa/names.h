// The names that people read and write: engines, memories, ALU operations, functions, semaphores.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "isa/program.h"

namespace isa {

/// A value outside of the enumeration gives "?"; the checker refuses it.
std::string_view name_of(Opcode op);          // "matmul", "dma_copy", ...
std::string_view name_of(Engine engine);      // "tensor", "vector", "scalar", "gpsimd", "sync"
std::string_view name_of(Space space);        // "none", "sbuf", "psum", "hbm"
std::string_view name_of(Alu alu);            // "none", "add", "sub", ...
std::string_view name_of(Fn fn);              // "copy", "gelu", "exp", ...
std::string_view name_of(Registers command);  // "idle", "reset", "reduce", ...
std::string_view name_of(Phase phase);        // "forward", "backward", ...
std::string_view name_of(Rounding rounding);  // "nearest_even", "stochastic"

std::optional<Opcode> opcode_from(std::string_view name);
std::optional<Engine> engine_from(std::string_view name);
std::optional<Space> space_from(std::string_view name);
std::optional<Alu> alu_from(std::string_view name);
std::optional<Fn> fn_from(std::string_view name);
std::optional<Registers> registers_from(std::string_view name);
std::optional<Phase> phase_from(std::string_view name);
std::optional<Rounding> rounding_from(std::string_view name);

/// "tensor" ... "sync", "dma0" ... "dma15", "cc0", "cc1"; beyond them "sem<n>".
std::string semaphore_name(int semaphore);
std::optional<int> semaphore_from(std::string_view name);

}  // namespace isa
