// AMX BF16: Intel from Sapphire Rapids. The operating system grants the tile registers (dispatch.cpp requests them).
#include <immintrin.h>

#include "isa/kernels/body_amx.h"

namespace isa::kernels {
namespace {

struct HardwareTiles {
  struct alignas(64) Config {
    std::uint8_t palette = 1;
    std::uint8_t start = 0;
    std::uint8_t reserved[14] = {};
    std::uint16_t bytes[16] = {64, 64, 64, 64, 64, 64, 64, 64};
    std::uint8_t rows[16] = {16, 16, 16, 16, 16, 16, 16, 16};
  };
  HardwareTiles() {
    const Config config;
    _tile_loadconfig(&config);
  }
  ~HardwareTiles() { _tile_release(); }
  HardwareTiles(const HardwareTiles&) = delete;
  HardwareTiles& operator=(const HardwareTiles&) = delete;
  // Assembly, because the compiler's own names want literal tile numbers, not template arguments.
  template <int kTile>
  void zero() {
    __asm__ volatile("tilezero %%tmm%c0" ::"i"(kTile));
  }
  template <int kTile>
  void load(const void* p, std::int64_t stride) {
    __asm__ volatile("tileloadd (%0,%1,1), %%tmm%c2" ::"r"(p), "r"(stride), "i"(kTile) : "memory");
  }
  template <int kTile>
  void store(void* p, std::int64_t stride) {
    __asm__ volatile("tilestored %%tmm%c2, (%0,%1,1)" ::"r"(p), "r"(stride), "i"(kTile) : "memory");
  }
  template <int kSum, int kA, int kB>
  void multiply_add() {
    __asm__ volatile("tdpbf16ps %%tmm%c2, %%tmm%c1, %%tmm%c0" ::"i"(kSum), "i"(kA), "i"(kB));
  }
};

void amx_tile(const MatMul& args) {
  AmxPacked packed;  // some 95 KB
  HardwareTiles tiles;
  amx_matmul(args, tiles, packed);
}

}  // namespace

void add_amx(Kernels& table) { table.matmul_bf16 = amx_tile; }

}  // namespace isa::kernels
