#include "isa/names.h"

#include <algorithm>
#include <array>
#include <charconv>

namespace isa {
namespace {

using Names = std::string_view;
constexpr std::array<Names, kEngineCount> kEngines = {"tensor", "vector", "scalar", "gpsimd", "sync"};
constexpr std::array<Names, 4> kSpaces = {"none", "sbuf", "psum", "hbm"};
constexpr std::array<Names, kAluCount> kAlus = {
    "none", "add", "sub",         "mul",        "div",         "max",         "min",      "pow",         "eq",
    "ne",   "gt",  "ge",          "lt",         "le",          "and",         "or",       "xor",         "shl",
    "shr",  "not", "logical_and", "logical_or", "logical_xor", "logical_not", "absolute", "inverse_sqrt"};
constexpr std::array<Names, kFnCount> kFns = {
    "copy",       "square",         "sigmoid", "relu",      "gelu", "gelu_tanh", "gelu_sigmoid", "gelu_sigmoid_grad",
    "gelu_grad",  "gelu_tanh_grad", "silu",    "silu_grad", "tanh", "tanh_grad", "softplus",     "mish",
    "erf",        "erf_grad",       "exp",     "log",       "sin",  "arctan",    "sqrt",         "rsqrt",
    "reciprocal", "sign",           "abs"};
constexpr std::array<Names, kRegistersCount> kRegisters = {"default", "idle",         "reset",
                                                           "reduce",  "reset_reduce", "load_reduce"};
constexpr std::array<Names, 5> kPhases = {"forward", "backward", "optimizer", "communication", "other"};
constexpr std::array<Names, 2> kRoundings = {"nearest_even", "stochastic"};

template <std::size_t N, typename E>
std::string_view name_in(const std::array<Names, N>& names, E value) {
  const auto index = static_cast<std::size_t>(value);
  return index < N ? names[index] : "?";
}

template <typename E, std::size_t N>
std::optional<E> find_in(const std::array<Names, N>& names, std::string_view name) {
  const auto found = std::ranges::find(names, name);
  if (found == names.end()) return std::nullopt;
  return static_cast<E>(found - names.begin());
}

/// "<prefix><number below limit>", without leading zeros.
std::optional<int> numbered(std::string_view text, std::string_view prefix, int limit) {
  if (!text.starts_with(prefix)) return std::nullopt;
  text.remove_prefix(prefix.size());
  int value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  const bool canonical = text.size() == 1 || (!text.empty() && text.front() != '0');
  if (error != std::errc{} || end != text.data() + text.size() || !canonical || value < 0 || value >= limit)
    return std::nullopt;
  return value;
}

}  // namespace

std::string_view name_of(Engine engine) { return name_in(kEngines, engine); }
std::string_view name_of(Space space) { return name_in(kSpaces, space); }
std::string_view name_of(Alu alu) { return name_in(kAlus, alu); }
std::string_view name_of(Fn fn) { return name_in(kFns, fn); }
std::string_view name_of(Registers command) { return name_in(kRegisters, command); }
std::string_view name_of(Phase phase) { return name_in(kPhases, phase); }
std::string_view name_of(Rounding rounding) { return name_in(kRoundings, rounding); }

std::optional<Engine> engine_from(std::string_view name) { return find_in<Engine>(kEngines, name); }
std::optional<Space> space_from(std::string_view name) { return find_in<Space>(kSpaces, name); }
std::optional<Alu> alu_from(std::string_view name) { return find_in<Alu>(kAlus, name); }
std::optional<Fn> fn_from(std::string_view name) { return find_in<Fn>(kFns, name); }
std::optional<Registers> registers_from(std::string_view name) { return find_in<Registers>(kRegisters, name); }
std::optional<Phase> phase_from(std::string_view name) { return find_in<Phase>(kPhases, name); }
std::optional<Rounding> rounding_from(std::string_view name) { return find_in<Rounding>(kRoundings, name); }

std::string semaphore_name(int semaphore) {
  if (semaphore < kFirstDmaSemaphore) return std::string{kEngines[static_cast<std::size_t>(semaphore)]};
  if (semaphore < kFirstCcSemaphore) return "dma" + std::to_string(semaphore - kFirstDmaSemaphore);
  if (semaphore < kSemaphores) return "cc" + std::to_string(semaphore - kFirstCcSemaphore);
  return "sem" + std::to_string(semaphore);
}

std::optional<int> semaphore_from(std::string_view name) {
  if (const auto engine = engine_from(name)) return static_cast<int>(*engine);
  if (const auto ring = numbered(name, "dma", kDmaQueues)) return kFirstDmaSemaphore + *ring;
  if (const auto queue = numbered(name, "cc", kCcQueues)) return kFirstCcSemaphore + *queue;
  const auto other = numbered(name, "sem", 65536);
  return other && *other >= kSemaphores ? other : std::nullopt;
}

}  // namespace isa
