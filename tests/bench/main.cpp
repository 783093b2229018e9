// Runs every benchmark: ./dev bench.
#include <benchmark/benchmark.h>

BENCHMARK_MAIN();
