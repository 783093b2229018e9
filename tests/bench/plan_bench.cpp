// How long a user waits for the best of many plans.
#include <benchmark/benchmark.h>

#include <array>
#include <cstdio>
#include <string>

namespace {

/// Target: 120 s for 200 plans on two cores.
void rank_plans(benchmark::State& state, const std::string& flags) {
  const std::string command = TRNSIM_BENCH_BINARY " plan " + flags + " 2>&1 >/dev/null";
  unsigned plans = 0, fit = 0, large = 0, illegal = 0, compiled = 0;
  for (auto _ : state) {
    std::FILE* pipe = popen(command.c_str(), "r");
    std::string last;
    for (std::array<char, 512> line{}; pipe && std::fgets(line.data(), line.size(), pipe);) last = line.data();
    const std::size_t begin = last.find_first_of("0123456789");
    const char* counts = begin == std::string::npos ? "" : last.c_str() + begin;
    const int read = std::sscanf(counts, "%u plans: %u fit, %u do not, %u cannot be formed; %u were compiled", &plans,
                                 &fit, &large, &illegal, &compiled);
    if (!pipe || pclose(pipe) != 0 || read != 5) return state.SkipWithError(last.c_str());
  }
  state.counters["plans"] = plans;
  state.counters["compiled"] = compiled;
}
BENCHMARK_CAPTURE(rank_plans, llama2_7b, std::string{"llama2-7b --micro_batch_sizes 1,2"})
    ->Unit(benchmark::kSecond)
    ->Iterations(1)
    ->UseRealTime();
BENCHMARK_CAPTURE(rank_plans, llama2_13b, std::string{"llama2-13b --nnodes 4 --micro_batch_sizes 1,2"})
    ->Unit(benchmark::kSecond)
    ->Iterations(1)
    ->UseRealTime();
BENCHMARK_CAPTURE(rank_plans, llama3_70b, std::string{"llama3.1-70b --nnodes 16 --micro_batch_sizes 1,2"})
    ->Unit(benchmark::kSecond)
    ->Iterations(1)
    ->UseRealTime();

}  // namespace
