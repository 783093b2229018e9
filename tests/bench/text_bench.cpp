// The work before the first step that a user waits for: tokens of a data set, and the rules of a program.
#include <benchmark/benchmark.h>

#include <filesystem>
#include <string>

#include "isa/check.h"
#include "runtime/compiler/compile.h"
#include "tests/target.h"
#include "tests/workloads/models.h"
#include "workloads/models/bert/bert_graph.h"
#include "workloads/text/tokenizer.h"

namespace {

/// Target: 2 s for the 16,000 texts of emotion, with any tokenizer.
void tokenize_16000_tweets(benchmark::State& state, const std::string& file) {
  const auto tokenizer =
      workloads::load_tokenizer(std::filesystem::path{TRNSIM_BENCH_DIR} / "../workloads/data/tokenizers" / file);
  const std::string tweet =
      "i don't feel the code running low , a naïve world wanted me to be happy and not sad or lower";
  std::size_t tokens = 0;
  for (auto _ : state)
    for (int i = 0; i < 16000; ++i) tokens += tokenizer->encode(tweet).ids.size();
  state.counters["tokens/s"] = benchmark::Counter(static_cast<double>(tokens), benchmark::Counter::kIsRate);
}
BENCHMARK_CAPTURE(tokenize_16000_tweets, bpe, std::string{"llama3.json"})->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(tokenize_16000_tweets, metaspace, std::string{"llama2.json"})->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(tokenize_16000_tweets, sentencepiece, std::string{"tiny.model"})->Unit(benchmark::kMillisecond);

/// Target: 1 million instructions/s.
void check_program(benchmark::State& state) {
  workloads::BertConfig config = workloads_test::bert_preset("bert-base-uncased");
  config.num_hidden_layers = 1;
  workloads::Step spec;
  spec.plan.micro_batch = 8, spec.kind.length = 128;
  spec.plan.numerics = runtime::numerics("bf16");
  const isa::Program program = runtime::compile(workloads::bert_graph(config, spec).graph, trn1_target(), {}).program;
  std::size_t instructions = 0;
  for (auto _ : state) {
    isa::check(program, trn1_target());
    for (const isa::Block& block : program.blocks) instructions += block.instrs.size();
  }
  state.counters["instr/s"] = benchmark::Counter(static_cast<double>(instructions), benchmark::Counter::kIsRate);
}
BENCHMARK(check_program)->Unit(benchmark::kMillisecond);

}  // namespace
