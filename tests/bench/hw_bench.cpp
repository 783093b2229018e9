// How fast the timed machine simulates.
#include <benchmark/benchmark.h>

#include <string>

#include "hw/sim_device.h"
#include "tests/hw/tiny_programs.h"

namespace {

using namespace tiny;

/// A call as compilers write them: loads, chains of matmuls, evictions on two engines, vector work, stores; every
/// dependence by a semaphore.
std::vector<Instr> typical() {
  std::vector<Instr> instrs;
  for (std::uint32_t i = 0; i < 64; ++i) {
    const std::int64_t bank = (i % 8) * 2048;
    instrs.push_back(dma(sbuf(128, 512, bank, Dtype::kBf16), hbm(128, 512, 0, Dtype::kBf16), i % 8));
    for (int k = 0; k < 8; ++k) {
      Instr mm = matmul(psum(128, 512, bank), sbuf(128, 128, 32768 + 256 * k, Dtype::kBf16),
                        sbuf(128, 512, bank, Dtype::kBf16), k > 0);
      if (k == 0) mm = after(mm, dma_sem(i % 8), i / 8 + 1);
      instrs.push_back(k == 7 ? signal(mm) : mm);
    }
    instrs.push_back(
        signal(after(activate(sbuf(128, 512, 65536 + bank), psum(128, 512, bank)), sem(Engine::kTensor), i + 1)));
    instrs.push_back(signal(
        after(copy(Engine::kVector, sbuf(128, 512, 98304 + bank), psum(128, 512, bank)), sem(Engine::kTensor), i + 1)));
    for (int v = 1; v <= 4; ++v)
      instrs.push_back(signal(after(copy(Engine::kVector, sbuf(128, 128, 98304 + bank), sbuf(128, 128, 98304 + bank)),
                                    sem(Engine::kVector), 5 * i + v)));
    instrs.push_back(
        after(after(dma(hbm(128, 512, 1 << 24), sbuf(128, 512, 65536 + bank), 8 + i % 8), sem(Engine::kScalar), i + 1),
              sem(Engine::kVector), 5 * i + 5));
  }
  return instrs;
}

void simulated_instructions(benchmark::State& state, const hw::SimOptions& options) {
  const isa::Program job = program(typical(), 1000);
  const auto machine = trn1();
  double instructions = 0;
  for (auto _ : state) instructions += static_cast<double>(hw::simulate(job, machine, options).instructions);
  state.counters["instructions/s"] = benchmark::Counter(instructions, benchmark::Counter::kIsRate);
}

void BM_TimedExact(benchmark::State& state) {
  hw::SimOptions options;
  options.exact = true;
  simulated_instructions(state, options);
}
BENCHMARK(BM_TimedExact)->Unit(benchmark::kMillisecond);

/// 1000 calls of a block that soon repeats itself.
void BM_TimedRepresentative(benchmark::State& state) { simulated_instructions(state, {}); }
BENCHMARK(BM_TimedRepresentative)->Unit(benchmark::kMillisecond);

void BM_ChildProcess(benchmark::State& state) {
  const isa::Program job = program(typical());
  const auto machine = trn1();
  for (auto _ : state) benchmark::DoNotOptimize(hw::simulate_in_child(job, machine).total);
}
BENCHMARK(BM_ChildProcess)->Unit(benchmark::kMillisecond);

}  // namespace
