// ./dev columns: each guess beside the words of a row that it is from.
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <map>
#include <ostream>

#include "base/csv.h"
#include "base/files.h"
#include "tests/validation/converted.h"

namespace validation {
namespace {

using Cells = std::map<std::string, std::string>;

/// The first row of a table, by column.
Cells cells_of(const std::string& table) {
  const base::CsvTable read = base::parse_csv(table, "t.csv");
  Cells cells;
  for (std::size_t i = 0; i < read.header.size(); ++i) cells[read.header[i]] = read.records.at(0).cells.at(i);
  return cells;
}

struct Guess {
  std::string text;  // of the row
  Cells columns;     // that it is given; others stay empty

  friend void PrintTo(const Guess& guess, std::ostream* out) { *out << guess.text; }
};

void expect_guess(const std::string& header, const std::string& row, const Guess& guess) {
  if (!tests::has_python()) GTEST_SKIP() << tests::kNoPython;
  const Cells got = cells_of(tests::converted(header + row + "\n"));
  const Cells asked = cells_of(header + row + "\n");
  for (const auto& [column, cell] : got) {
    if (column == "publisher") continue;  // of the source alone: see PublishersAreOwnersAndCompanies
    const auto want = guess.columns.find(column);
    if (want != guess.columns.end())
      EXPECT_EQ(cell, want->second) << column;
    else if (const auto before = asked.find(column); before != asked.end())
      EXPECT_EQ(cell, before->second) << column;
    else
      EXPECT_EQ(cell, "") << column;
  }
  for (const auto& [column, cell] : guess.columns) EXPECT_TRUE(got.contains(column)) << column;
}

/// KIND,WHAT,SHAPE,DTYPE and the notes.
class GuessedKernels : public testing::TestWithParam<Guess> {};
TEST_P(GuessedKernels, AreNames) {
  const std::string& text = GetParam().text;
  const auto notes = text.find(" # ");
  expect_guess(tests::kMicroHeader,
               fmt::format("id,{},1,trn1,1,us,here,\"{}\"", text.substr(0, notes),
                           notes == std::string::npos ? "" : text.substr(notes + 3)),
               GetParam());
}
Guess kernel(const char* text, const char* name) { return {text, {{"kernel", name}}}; }
INSTANTIATE_TEST_SUITE_P(
    Columns, GuessedKernels,
    testing::Values(kernel("gemm,\"NKI dense GEMM, tuned tiling\",8x8x8,bf16", "nki"),
                    kernel("gemm,transpose + matmul,8x8x8,bf16", "matmul"),
                    kernel("gemm,batched matmul + softmax,8x8x8,bf16", "matmul+softmax"),
                    Guess{"gemm,cuBLAS,8x8x8,bf16", {}},
                    kernel("memory,HBM read in 1 KiB rows,2 GiB,bf16", "read row=1024"),
                    kernel("memory,HBM copy in 512 B descriptors,2 GiB,bf16", "copy row=512"),
                    Guess{"memory,SBUF read,1 MiB,bf16", {}},
                    kernel("kernel,fused add_rms_norm_matmul kernel,8x8,fp32", "add+rmsnorm+matmul"),
                    kernel("kernel,\"matmul, then residual add and Layer Norm\",8x8,fp32", "matmul+add+layernorm"),
                    kernel("kernel,naive transpose,8x8,fp32", "transpose"), Guess{"kernel,ray tracing,8x8,fp32", {}},
                    kernel("kernel,AdamW update,10944x2048,fp32 # 359 MB read, 90 MB written", "adamw moments=dropped"),
                    kernel("kernel,AdamW update,10944x2048,fp32 # 359 MB read, 270 MB written", "adamw"),
                    kernel("kernel,Mamba scan kernel v1,-,fp32", "mamba version=1"),
                    kernel("kernel,Mamba block,-,fp32", "mamba"),
                    kernel("kernel,\"vector add, one 128x200 tile\",25600,fp32", "vector-add tile=128x200"),
                    kernel("kernel,\"vector add, 512 elements per tile\",25600,fp32", "vector-add elements=512"),
                    kernel("kernel,4 decoder blocks forward,h64 GELU MLP,fp32", "blocks layers=4"),
                    kernel("kernel,4 decoder blocks forward,h64 SwiGLU,fp32", "blocks layers=4 mlp=other"),
                    kernel("kernel,flash attention forward (causal),-,bf16", "attention causal flash"),
                    kernel("kernel,non-causal GQA,-,bf16", "attention"), kernel("kernel,LoRA,-,bf16", "lora")));
INSTANTIATE_TEST_SUITE_P(
    Instructions, GuessedKernels,
    testing::Values(
        kernel("instruction,dependent 1-element ACTIVATE chain,1 element,fp32", "stream op=activation dependent"),
        kernel("instruction,independent bf16 matmul,128x512,bf16", "stream op=matmul"),
        kernel("instruction,\"ACTIVATE duration, linear fit, per element\",\"[128,N] N=8..120\",fp16",
               "activate-per-element n=8..120"),
        kernel("instruction,\"ACTIVATE duration, sbuf -> sbuf\",\"[128,64]\",fp16", "activate n=64 sbuf"),
        kernel("instruction,\"MATMUL start to start, N=256 moving\",128x128x512,fp16", "matmul-interval n=256"),
        kernel("instruction,MATMUL end to dependent ACTIVATE start,-,-", "matmul-to-activate"),
        kernel("instruction,DMA descriptor duration,4 B,-", "descriptor"), Guess{"instruction,teleport,-,-", {}},
        kernel("collective,\"all-reduce, 2 ranks\",8 B,fp32", "all-reduce"),
        Guess{"collective,all-shuffle,8 B,fp32", {}}, Guess{"launch,an empty graph,-,-", {}},
        kernel("launch,replay through torch-xla,-,-", "torch-xla"),
        kernel("host,\"MLP training loop, MpDeviceLoader\",9-9 batch 3,fp32", "mlp prefetch"),
        kernel("host,\"host-device copy, bidirectional\",1 GiB,-", "copy")));

/// Guesses of the compiled graph.
class GuessedGraphs : public testing::TestWithParam<Guess> {};
TEST_P(GuessedGraphs, AreAPresetWithItsOptions) {
  expect_guess(tests::kCompileHeader, fmt::format("id,compile,\"{}\",,1,trn1,yes,1,s,here,", GetParam().text),
               GetParam());
}
Guess graph(const char* text, const char* name) { return {text, {{"graph", name}}}; }
INSTANTIATE_TEST_SUITE_P(
    Columns, GuessedGraphs,
    testing::Values(graph("MLP 784-256-10 training step", "mlp sizes=784-256-10 training"),
                    graph("ViT, 4 layers, training", "vit-mnist layers=4 training"),
                    graph("TinyLlama LoRA training step", "llama2-7b layers=22 training trainer lora"),
                    graph("BERT-base-cased NER training step", "bert-base-cased training trainer head=tokens"),
                    graph("Llama-2-7b-hf inference", "llama2-7b inference"),
                    graph("trinity-nano inference",
                          "qwen3-30b-a3b layers=56 hidden=1024 heads=8 kv_heads=2 ffn=256 vocab=200192 "
                          "head_size=128 inference")));

/// A job: MODEL;STACK;METRIC;SOURCE;NOTES.
class GuessedJobs : public testing::TestWithParam<Guess> {};
TEST_P(GuessedJobs, AreCells) {
  const auto row = [](std::string text, const char* kind) {
    std::array<std::string, 5> part;
    for (std::size_t i = 0; i + 1 < part.size(); ++i) {
      part[i] = text.substr(0, text.find(';'));
      text.erase(0, part[i].size() + 1);
    }
    part.back() = text;
    return fmt::format(
        "id,{},\"{}\",2,64,2,2,128,1000,64,trn1,1,1,1,1,1,no,no,none,1,1,bf16,bf16,adamw,{},{},1,1,1,1,\"{}\",\"{}\"",
        kind, part[0], part[1], part[2], part[3], part[4]);
  };
  const bool writes = GetParam().columns.contains("new_tokens");
  expect_guess(tests::kTrainingHeader, row(GetParam().text, writes ? "generate" : "train"), GetParam());
}
INSTANTIATE_TEST_SUITE_P(
    Software, GuessedJobs,
    testing::Values(
        Guess{"bert-base;torch-xla;ms;AWS docs;", {{"like", "bert"}}},
        Guess{"bert-base;torch-xla;ms;github somebody;", {{"like", "bert"}, {"release", "torch-xla-2025"}}},
        Guess{"bert-base;torch-xla;ms;AWS docs (SDK 2.26);", {{"like", "bert"}, {"release", "torch-xla-2025"}}},
        Guess{"bert-base;torch-xla;ms;github (SDK 2.20);", {{"like", "bert"}}},
        Guess{"bert-base;HF Trainer;ms;-;optimum-neuron 0.4.3", {{"like", "bert"}, {"release", "optimum-neuron"}}},
        Guess{"bert-base;HF Trainer;ms;optimum notebook, 2024;", {{"like", "bert"}}},
        Guess{"gpt3-6.7b;megatron;ms;github somebody;", {{"like", "gpt2"}}},
        Guess{"bert-base;torch-xla;ms;community run (SDK 2.30);",
              {{"like", "bert"}, {"release", "torch-xla-2025"}, {"timing", "trial"}}},
        Guess{"bert-base;torch-xla;ms;-;median of timed steps", {{"like", "bert"}, {"timing", "steps"}}}));
INSTANTIATE_TEST_SUITE_P(
    Sizes, GuessedJobs,
    testing::Values(
        Guess{"bert-base;torch-xla;minutes for 2 epochs;-;25,000 reviews",
              {{"like", "bert"}, {"epochs", "2"}, {"samples", "25000"}}},
        Guess{"bert-base;torch-xla;ms;-;3 epochs x 16000 samples with an evaluation of 2,000 samples after each epoch",
              {{"like", "bert"}, {"epochs", "3"}, {"samples", "16000"}, {"eval_samples", "2000"}}},
        Guess{"roberta;torch-xla;ms;-;3000 steps", {{"like", "roberta"}, {"steps", "3000"}}},
        Guess{"llama2-7b;torch-xla;ms;-;3000 steps", {{"like", "llama"}}},
        Guess{"llama2-7b;torch-xla;ms;-;about 10.57M tokens; not published",
              {{"like", "llama"}, {"tokens", "10570000"}, {"untold", "yes"}}},
        Guess{"llama2-7b;torch-xla;ms;-;LoRA r16 alpha 32 on q v; whole wall clock of 645 steps",
              {{"like", "llama"}, {"steps", "645"}, {"lora", "rank=16 alpha=32 layers=q,v"}}},
        Guess{"llama2-7b;nxd;ms TPOT;-;input 128, output 8064",
              {{"like", "llama"}, {"prompt_tokens", "128"}, {"new_tokens", "8064"}}},
        Guess{"llama-2-7b;transformers-neuronx;ms TPOT;AWS Neuron docs, Trn1 inference performance;input 128, output "
              "8064",
              {{"like", "llama"},
               {"prompt_tokens", "128"},
               {"new_tokens", "8064"},
               {"release", "transformers-neuronx-2.18.0"}}},
        Guess{"llama-2-7b;transformers-neuronx;ms TPOT;AWS Neuron docs, Inf2 inference performance;input 128, output "
              "8064",
              {{"like", "llama"},
               {"prompt_tokens", "128"},
               {"new_tokens", "8064"},
               {"release", "transformers-neuronx-2.19"}}},
        Guess{"llama-3-8b;transformers-neuronx;ms TPOT;AWS Neuron docs, Trn1 inference performance;input 128, output "
              "8064",
              {{"like", "llama"}, {"prompt_tokens", "128"}, {"new_tokens", "8064"}}},
        Guess{"llama2-7b;nxdi;ms TTFT;-;input 900, output 100; prompts in the bucket 1024",
              {{"like", "llama"}, {"prompt_tokens", "900"}, {"new_tokens", "100"}, {"prompt_bucket", "1024"}}}));
INSTANTIATE_TEST_SUITE_P(
    Models, GuessedJobs,
    testing::Values(Guess{"XLM-RoBERTa;torch-xla;ms;-;", {{"like", "roberta"}}},
                    Guess{"SciBERT;torch-xla;ms;-;", {{"like", "bert"}}}, Guess{"deberta-v3;torch-xla;ms;-;", {}},
                    Guess{"t5-large;torch-xla;ms;-;", {}}, Guess{"MobileViT-S;torch-xla;ms;-;", {}},
                    Guess{"swin-base;torch-xla;ms;-;", {}},
                    Guess{"bert-base;torch-xla;ms;-;token classification, 7 labels",
                          {{"like", "bert"}, {"head", "tokens"}, {"labels", "7"}}},
                    Guess{"bert-base;torch-xla;ms;-;MLM and NSP", {{"like", "bert"}, {"head", "pretraining"}}},
                    Guess{"gpt-neox-20b;megatron;ms;-;", {{"like", "gpt_neox"}}},
                    Guess{"gpt-j-6b;megatron;ms;-;",
                          {{"like", "gpt2"},
                           {"dropout", "no"},
                           {"tied", "no"},
                           {"assumed", "as a GPT: attention before the MLP, learned positions"}}},
                    Guess{"4 decoder blocks, full attention;torch-xla;ms;-;", {{"like", "blocks"}, {"causal", "no"}}},
                    Guess{"4 decoder blocks, SwiGLU;torch-xla;ms;-;", {{"like", "blocks"}, {"block", "swiglu"}}}));

TEST(Columns, PublishersAreOwnersAndCompanies) {
  if (!tests::has_python()) GTEST_SKIP() << tests::kNoPython;
  const std::string header = "id,kind,what,shape,dtype,cores,instance,value,unit,source,notes\n";
  const auto of = [&](const std::string& source) {
    return cells_of(tests::converted(header + "a,gemm,matmul,8x8x8,bf16,1,trn1,1,ms," + source + ",\n"))
        .at("publisher");
  };
  EXPECT_EQ(of("github somebody/aws-notes"), "somebody");
  EXPECT_EQ(of("some-body/kernels@90770f2 benchmark.csv"), "some-body");
  EXPECT_EQ(of("aws-neuron/samples@4bcdc54"), "AWS");
  EXPECT_EQ(of("\"AWS Neuron docs, tables\""), "AWS");
  EXPECT_EQ(of("community benchmark (someone)"), "someone");
}

/// A kernel in a script: where it is, its function, and inputs of the shapes that the operator has.
TEST(Columns, KernelsInScriptsAreCalledWithTheirShapes) {
  if (!tests::has_python()) GTEST_SKIP() << tests::kNoPython;
  const std::string header = "id,kind,what,shape,dtype,cores,instance,value,unit,source,notes\n";
  const auto of = [&](const std::string& row, const std::string& source = "-") {
    return cells_of(tests::converted(header + "a,kernel," + row + ",1,trn2,1,ms," + source + ",\n")).at("kernel");
  };
  EXPECT_EQ(of("NKI kernel workspaces/silu/runs/silu_v9.py,256x64,fp32"),
            "nki script=trn2/kda/silu/silu_v9.py function=kernel inputs=128x2x64:fp32");
  EXPECT_EQ(of("\"NKI tiled matmul, hoist, tile M 128 K 64 N 256\",K512 M256 N1024,bf16"),
            "nki script=validation/kernels/tiled_matmul.py function=hoist_k64_n256 inputs=512x256:bf16,512x1024:bf16");
  // A script that prints the latency of neuron-bench, with the runtime around the program.
  EXPECT_THAT(of("\"NKI tiled matmul, hoist, tile M 128 K 64 N 256\",K512 M256 N1024,bf16",
                 "yahavb/trainium-agent-labs projects/02-kernel-agent/bench.py"),
              testing::EndsWith("timer=neuron-bench"));
}

/// Existing columns were written by a person: they stay.
TEST(Columns, TablesThatHaveThemAreLeftAlone) {
  if (!tests::has_python()) GTEST_SKIP() << tests::kNoPython;
  for (const auto& entry : std::filesystem::directory_iterator{TRNSIM_SOURCE_DIR "/validation/tables"})
    if (entry.path().extension() == ".csv") {
      const std::string table = base::read_file(entry.path());
      EXPECT_EQ(tests::converted(table), table) << entry.path();
    }
  const std::string said = "id,kind,what,shape,dtype,cores,instance,value,unit,kernel,source,notes\n";
  EXPECT_EQ(cells_of(tests::converted(said + "a,gemm,NKI GEMM,8x8x8,bf16,1,trn1,1,ms,matmul,-,\n")).at("kernel"),
            "matmul");
  EXPECT_THROW(tests::converted("a,b\n1,2\n"), std::runtime_error);
}

}  // namespace
}  // namespace validation
