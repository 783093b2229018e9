// Compiled programs in a folder: the same bytes come back, and only for the same inputs.
#include "runtime/compiler/program_cache.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include "base/error.h"
#include "base/files.h"
#include "tests/runtime/run_op.h"
#include "tests/target.h"

namespace {

using namespace runtime_test;
using runtime::Compiled;
using runtime::CompileOptions;

/// y = x w^T, with softmax and a sum over two ranks behind it.
Graph cached_graph(double alpha = 1, std::int64_t rows = 200) {
  Graph graph{runtime::numerics("bf16")};
  graph.set_replica_groups({{{0, 1}}});
  const ValueId x = graph.tensor("x", rows, 128, Dtype::kBf16, Kind::kInput);
  const ValueId w = graph.tensor("w", 64, 128, Dtype::kBf16, Kind::kWeight);
  graph.enter({.name = "layer", .instance = 0, .phase = isa::Phase::kForward, .rng = 3});
  const ValueId y = graph.add1(runtime::kMatmul, "y", {x, w}, MatmulAttrs{.trans_b = true});
  graph.output(graph.add1(runtime::kAffine, "scaled", {y}, AffineAttrs{.alpha = alpha}), "out");
  return graph;
}

CompileOptions cached_options() { return {.name = "cached", .ranks = 2}; }

base::Fault fault_of(const std::string& bytes) {
  try {
    runtime::read_compiled(bytes, "x.program");
  } catch (const base::Error& error) {
    return error.fault();
  }
  return base::Fault::kInternal;
}

TEST(ProgramCache, AProgramComesBackAsItWas) {
  const Compiled compiled = runtime::compile(cached_graph(), trn1_target(), cached_options());
  const Compiled again = runtime::read_compiled(runtime::write_compiled(compiled), "x.program");
  ASSERT_EQ(again.program.blocks.size(), compiled.program.blocks.size());
  for (std::size_t b = 0; b < again.program.blocks.size(); ++b) {
    EXPECT_EQ(again.program.blocks[b].instrs, compiled.program.blocks[b].instrs);
    EXPECT_EQ(again.program.blocks[b].labels, compiled.program.blocks[b].labels);
  }
  EXPECT_EQ(again.program.groups, compiled.program.groups);
  EXPECT_EQ(again.program.model_flops, compiled.program.model_flops);
  EXPECT_EQ(again.memory.bytes_by_kind, compiled.memory.bytes_by_kind);
  EXPECT_EQ(again.memory.address, compiled.memory.address);
}

TEST(ProgramCache, TheKeyHasEverythingThatDecidesTheProgram) {
  const std::uint64_t key = runtime::program_key(cached_graph(), trn1_target(), cached_options());
  EXPECT_EQ(runtime::program_key(cached_graph(), trn1_target(), cached_options()), key);
  EXPECT_NE(runtime::program_key(cached_graph(2), trn1_target(), cached_options()), key);
  EXPECT_NE(runtime::program_key(cached_graph(1, 201), trn1_target(), cached_options()), key);
  for (const runtime::PassInfo& pass : runtime::kPasses) {
    CompileOptions other = cached_options();
    other.passes.*pass.flag = !(other.passes.*pass.flag);
    EXPECT_NE(runtime::program_key(cached_graph(), trn1_target(), other), key) << pass.name;
  }
  Graph apart = cached_graph();
  apart.set_replica_groups({{{0}, {1}}});
  EXPECT_NE(runtime::program_key(apart, trn1_target(), cached_options()), key);
  const std::vector<isa::Region> shared;
  CompileOptions other = cached_options();
  other.shared = &shared;
  EXPECT_NE(runtime::program_key(cached_graph(), trn1_target(), other), key);
}

TEST(ProgramCache, DamagedFilesAreRefused) {
  const std::string bytes = runtime::write_compiled(runtime::compile(cached_graph(), trn1_target(), cached_options()));
  for (const std::size_t size : {std::size_t{0}, std::size_t{7}, bytes.size() / 2, bytes.size() - 1})
    EXPECT_EQ(fault_of(bytes.substr(0, size)), base::Fault::kData) << size;
  for (std::size_t at = 0; at < bytes.size(); at += 97) {
    std::string other = bytes;
    other[at] = static_cast<char>(other[at] ^ 0x10);
    EXPECT_EQ(fault_of(other), base::Fault::kData) << at;
  }
}

TEST(ProgramCache, CachedProgramsAreNotCompiledAgain) {
  namespace fs = std::filesystem;
  const fs::path folder = fs::path{testing::TempDir()} / ("program_cache_" + std::to_string(getpid()));
  runtime::ProgramCache cache{folder};
  runtime::CompileOptions options = cached_options();
  options.cache = &cache;
  const Compiled first = runtime::compile(cached_graph(), trn1_target(), options);
  EXPECT_EQ(cache.use().compiled, 1u);
  const Compiled second = runtime::compile(cached_graph(), trn1_target(), options);
  EXPECT_EQ(cache.use().found, 1u);
  EXPECT_EQ(second.program.blocks.at(0).instrs, first.program.blocks.at(0).instrs);
  // It is only a cache: what is damaged is compiled again and put right, and a folder that is gone keeps nothing.
  for (const auto& file : fs::directory_iterator{folder}) base::write_file(file.path(), "rubbish");
  EXPECT_EQ(runtime::compile(cached_graph(), trn1_target(), options).program.blocks.size(),
            first.program.blocks.size());
  EXPECT_EQ(cache.use().compiled, 2u);
  runtime::compile(cached_graph(), trn1_target(), options);
  EXPECT_EQ(cache.use().found, 2u);
  fs::remove_all(folder);
  EXPECT_NO_THROW(runtime::compile(cached_graph(), trn1_target(), options));
}

TEST(ProgramCache, AFolderThatCannotBeMadeIsTheHostsFault) {
  try {
    runtime::ProgramCache{"/dev/null/cache"};
    ADD_FAILURE() << "no error";
  } catch (const base::Error& error) {
    EXPECT_EQ(error.fault(), base::Fault::kEnvironment);
  }
}

}  // namespace
