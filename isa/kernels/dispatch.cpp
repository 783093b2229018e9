#include <fmt/format.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cstdlib>

#include "base/error.h"
#include "isa/kernels/kernels.h"

namespace isa::kernels {
namespace {

constexpr std::array<std::string_view, kLevelCount> kNames{"generic", "avx2", "avx512", "avx512bf16", "amx"};

/// Linux hands out the AMX tile registers on request only (Documentation/arch/x86/xstate.rst).
bool request_amx() {
  constexpr int kRequestPermission = 0x1023;  // ARCH_REQ_XCOMP_PERM
  constexpr int kTileData = 18;               // XFEATURE_XTILEDATA
  return syscall(SYS_arch_prctl, kRequestPermission, kTileData) == 0;
}

bool cpu_has_amx_bf16() {
  unsigned eax = 7, ebx = 0, ecx = 0, edx = 0;
  __asm__("cpuid" : "+a"(eax), "=b"(ebx), "+c"(ecx), "=d"(edx));
  return (edx >> 22 & 1) && (edx >> 24 & 1);  // AMX-BF16, AMX-TILE
}

bool detect(Level level) {
  switch (level) {
    case Level::kGeneric: return true;
    case Level::kAvx2:
      return __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma") && __builtin_cpu_supports("bmi2");
    case Level::kAvx512:
      return detect(Level::kAvx2) && __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") &&
             __builtin_cpu_supports("avx512dq") && __builtin_cpu_supports("avx512vl");
    case Level::kAvx512Bf16: return detect(Level::kAvx512) && __builtin_cpu_supports("avx512bf16");
    case Level::kAmx: return detect(Level::kAvx512Bf16) && cpu_has_amx_bf16() && request_amx();
  }
  return false;
}

/// The table of a level that the host supports: the code that fills it is itself compiled for that instruction set.
Kernels build(Level level) {
  Kernels table = level >= Level::kAvx512 ? avx512_table() : level == Level::kAvx2 ? avx2_table() : generic_table();
  if (level >= Level::kAvx512Bf16) add_avx512bf16(table);
  if (level >= Level::kAmx) add_amx(table);
  table.level = level;
  table.name = name_of(level);
  return table;
}

Level best_level() {
  for (std::size_t i = kLevelCount; i-- > 0;)
    if (host_supports(static_cast<Level>(i))) return static_cast<Level>(i);
  return Level::kGeneric;
}

Level wanted_level() {
  const char* wanted = std::getenv("TRNSIM_HOST_ISA");
  if (!wanted) return best_level();
  for (std::size_t i = 0; i < kLevelCount; ++i)
    if (kNames[i] == wanted) return static_cast<Level>(i);
  throw base::Error{base::Fault::kUsage, "TRNSIM_HOST_ISA", fmt::format("'{}' is not a host instruction set", wanted),
                    fmt::format("set one of {}, or unset it", fmt::join(kNames, ", "))};
}

}  // namespace

std::string_view name_of(Level level) { return kNames.at(static_cast<std::size_t>(level)); }

bool host_supports(Level level) {
  static const auto kSupported = [] {
    std::array<bool, kLevelCount> supported{};
    for (std::size_t i = 0; i < kLevelCount; ++i) supported[i] = detect(static_cast<Level>(i));
    return supported;
  }();
  return kSupported.at(static_cast<std::size_t>(level));
}

const Kernels& kernels(Level level) {
  static const auto kTables = [] {
    std::array<Kernels, kLevelCount> tables;
    for (std::size_t i = 0; i < kLevelCount; ++i)
      if (const Level each = static_cast<Level>(i); host_supports(each)) tables[i] = build(each);
    return tables;
  }();
  if (!host_supports(level))
    throw base::Error{base::Fault::kEnvironment, "TRNSIM_HOST_ISA", fmt::format("this host has no {}", name_of(level)),
                      fmt::format("set {} or lower, or unset it", name_of(best_level()))};
  return kTables.at(static_cast<std::size_t>(level));
}

const Kernels& best_kernels() { return kernels(wanted_level()); }

}  // namespace isa::kernels
