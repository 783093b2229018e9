// The numeric device: ranks, threads, collectives between them, random streams.
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstring>
#include <memory>

#include "isa/device.h"
#include "tests/isa/exec_fixture.h"
#include "tests/sanitized.h"

namespace isa {
namespace {

/// Loads x, applies dropout and gelu in bf16, multiplies by itself, stores, sums over the ranks, and again.
Program make_program(std::uint32_t ranks) {
  const Tile in = on(kHbm, 128, 128), out = on(kHbm, 128, 512, Dtype::kFp32, 65536);
  const Tile x = on(kSbuf, 128, 128), y = on(kSbuf, 128, 128, Dtype::kBf16, 1024),
             z = on(kSbuf, 128, 512, Dtype::kBf16, 2048);
  const Tile four = tile(kSbuf, 128, {{0, 4}, {1, 128}}, Dtype::kBf16, 1024), product = on(Space::kPsum, 128, 512);
  Block block{.name = "layer", .instrs = {}, .registers = 1, .labels = {}};
  block.instrs = {
      {.op = Opcode::kDmaCopy, .dst = x, .a = in},
      {.op = Opcode::kDropout, .rng = 1, .imm0 = 0.1f, .imm1 = 1 / 0.9f, .dst = x, .a = x},
      {.op = Opcode::kActivation, .fn = Fn::kGelu, .imm0 = 1, .dst = y, .a = x},
      {.op = Opcode::kTensorCopy, .dst = z, .a = four},
      {.op = Opcode::kMatMul, .dst = product, .a = y, .b = z},
      {.op = Opcode::kDmaCopy, .dst = out, .a = product},
      {.op = Opcode::kAllReduce, .alu0 = Alu::kAdd, .dst = out, .a = out},
      {.op = Opcode::kDmaCopy, .dst = in, .a = on(kHbm, 128, 128, Dtype::kFp32, 65536)},
  };
  block.instrs.own().back().a.pstep = 512 * 4;
  Program program;
  program.name = "test";
  program.blocks = {block};
  program.hbm_bytes = 1 << 20;
  program.ranks = ranks;
  program.rounding = Rounding::kStochastic;
  program.groups.resize(1);
  program.groups[0].resize(1);
  for (std::uint32_t r = 0; r < ranks; ++r) program.groups[0][0].push_back(r);
  for (std::uint32_t call = 0; call < 3; ++call) program.calls.push_back({.block = 0, .bases = {4096}, .rng = call});
  return program;
}

std::vector<std::vector<std::byte>> run_on(std::uint32_t ranks, int threads, int runs = 1) {
  const Program program = make_program(ranks);
  const auto device = make_numeric_device();
  device->load(program);
  std::vector<std::vector<std::byte>> out;
  for (std::uint32_t r = 0; r < ranks; ++r)
    for (int i = 0; i < 128 * 128; ++i) {
      const float value = static_cast<float>((i * 31 + static_cast<int>(r) * 17) % 101) / 50 - 1;
      std::memcpy(device->memory(r).hbm() + 4096 + i * 4, &value, 4);
    }
  for (int i = 0; i < runs; ++i)
    device->run({.seed = 5, .step = static_cast<std::uint32_t>(i), .host_threads = threads});
  for (std::uint32_t r = 0; r < ranks; ++r)
    out.emplace_back(device->memory(r).hbm(), device->memory(r).hbm() + (1 << 20));
  return out;
}

TEST(NumericDevice, GivesTheSameBitsForAnyNumberOfThreads) {
  for (const std::uint32_t ranks : {1u, 2u, 5u}) {
    const auto want = run_on(ranks, 1);
    for (const int threads : {2, 3, 4, 11}) EXPECT_TRUE(run_on(ranks, threads) == want) << ranks << " on " << threads;
  }
}

TEST(NumericDevice, RanksDifferButAgreeAfterTheSum) {
  const auto memories = run_on(2, 2);
  EXPECT_TRUE(std::equal(memories[0].begin() + 4096, memories[0].end(), memories[1].begin() + 4096));
  EXPECT_NE(memories[0][4096 + 65536 + 7], std::byte{0});
}

TEST(NumericDevice, StepsHaveTheirOwnRandomBits) { EXPECT_FALSE(run_on(1, 1, 1) == run_on(1, 1, 2)); }

TEST(NumericDevice, AnErrorOfOneRankReachesTheCaller) {
  Program program = make_program(3);
  program.blocks[0].instrs.own()[2].dst.partitions = 77;
  const auto device = make_numeric_device();
  device->load(program);
  EXPECT_THROW(device->run({.host_threads = 3}), base::Error);
  EXPECT_THROW(device->run({.host_threads = 1}), base::Error);
}

TEST(NumericDevice, KeepsHbmFromProgramToProgram) {
  const Program first = make_program(2), second = make_program(2);
  const auto device = make_numeric_device();
  EXPECT_THROW(device->run({}), base::Error);
  device->load(first);
  device->memory(1).hbm()[5] = std::byte{42};
  device->load(second);
  EXPECT_EQ(device->memory(1).hbm()[5], std::byte{42});
  EXPECT_THROW(device->memory(2), base::Error);
}

/// Bytes of the core's SBUF that the host has pages for.
std::int64_t resident(Memory& memory) {
  const std::int64_t page = sysconf(_SC_PAGESIZE);
  const std::size_t bytes = static_cast<std::size_t>(Memory::kSbufStride) * 128;
  std::vector<unsigned char> pages((bytes + static_cast<std::size_t>(page) - 1) / static_cast<std::size_t>(page));
  EXPECT_EQ(mincore(memory.sbuf(), bytes, pages.data()), 0);
  return page * std::ranges::count_if(pages, [](unsigned char p) { return (p & 1) != 0; });
}

TEST(NumericDevice, ACoreOfASmallProgramTakesLittleOfTheHost) {
  const Program program = make_program(2);
  const auto device = make_numeric_device();
  device->load(program);
  device->run({.host_threads = 1});
  // Each of 128 partitions, 3 KiB of it, on up to two pages.
  EXPECT_LE(resident(device->memory(1)), 128 * 2 * sysconf(_SC_PAGESIZE));
  EXPECT_GE(resident(device->memory(1)), 128 * 3072);
}

TEST(Memory, IsZeroAndRefusesTheImpossible) {
  Memory memory{1 << 20};
  EXPECT_EQ(memory.sbuf()[Memory::kSbufStride * 128 - 1], std::byte{0});
  EXPECT_EQ(memory.psum()[12345], std::byte{0});
  EXPECT_THROW(Memory{std::uint64_t{1} << 60}, base::Error);
}

TEST(Team, OneThreadIsATeamAndNoneIsNot) {
  Team team{1};
  int done = 0;
  team.run([&](int part) { done += part + 1; });
  EXPECT_EQ(done, 1);
  EXPECT_THROW(Team{0}, base::Error);
}

TEST(Team, RunsEveryPartOnceAndPassesErrorsOn) {
  for (const int threads_in_all : {0, 1000}) {  // spinning and sleeping helpers
    Team team{4, threads_in_all};
    for (int round = 0; round < 2000; ++round) {
      std::array<int, 4> seen{};
      team.run([&](int part) { ++seen[static_cast<std::size_t>(part)]; });
      ASSERT_THAT(seen, testing::Each(1));
    }
    EXPECT_THROW(team.run([](int part) {
      if (part == 2) throw std::runtime_error{"two"};
    }),
                 std::runtime_error);
    int done = 0;
    team.run([&](int part) {
      if (part == 0) ++done;
    });
    EXPECT_EQ(done, 1);
  }
}

// Its helpers are not there, and its own may have got their stacks, and so their handles.
TEST(Team, AForkedChildForgetsItsParentsTeam) {
  if (kThreadSanitized) GTEST_SKIP() << "threads after a fork";
  auto team = std::make_unique<Team>(3);
  int done = 0;
  team->run([&](int part) { done += part == 0; });
  const pid_t child = fork();
  ASSERT_NE(child, -1);
  if (child == 0) {
    alarm(30);
    Team own{3};
    team->run([&](int part) { done += part == 0; });
    team.reset();
    own.run([&](int part) { done += part == 0; });
    _exit(done);
  }
  int status = 0;
  ASSERT_EQ(waitpid(child, &status, 0), child);
  EXPECT_TRUE(WIFEXITED(status)) << "ended by signal " << WTERMSIG(status);
  EXPECT_EQ(WEXITSTATUS(status), 3);
}

}  // namespace
}  // namespace isa
