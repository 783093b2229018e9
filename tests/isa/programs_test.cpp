// Programs that run together: messages between them, collectives over them, deadlocks.
#include <gmock/gmock.h>

#include "isa/check.h"
#include "isa/device.h"
#include "tests/fails.h"
#include "tests/isa/exec_fixture.h"
#include "tests/target.h"

namespace isa {
namespace {

using tests::fails;

constexpr auto kSpace = Space::kHbm;
constexpr std::int64_t kOwn = 0, kMessage = 4096, kSum = 8192;

Instr send_to(std::uint16_t peer, std::int64_t offset) {
  return {.op = Opcode::kSend, .peer = peer, .a = on(kSpace, 1, 8, Dtype::kFp32, offset)};
}
Instr receive_from(std::uint16_t peer, std::int64_t offset) {
  return {.op = Opcode::kRecv, .peer = peer, .dst = on(kSpace, 1, 8, Dtype::kFp32, offset)};
}
Instr sum_of(std::int64_t from, std::int64_t to) {
  return {.op = Opcode::kAllReduce,
          .alu0 = Alu::kAdd,
          .group = 1,
          .dst = on(kSpace, 1, 8, Dtype::kFp32, to),
          .a = on(kSpace, 1, 8, Dtype::kFp32, from)};
}

/// Runs on `count` of four ranks from `first` on. Group 0: rank r with r + 2; group 1: all.
Program part(std::string name, std::uint32_t first, std::vector<Instr> instrs, std::uint32_t count = 2) {
  Program program;
  program.name = std::move(name);
  program.blocks = {{.name = "block", .instrs = std::move(instrs), .registers = 1, .labels = {"x"}}};
  program.calls = {{.block = 0, .bases = {0}}};
  program.hbm_bytes = 1 << 16;
  program.ranks = 4;
  program.first_rank = first;
  program.own_ranks = count;
  program.groups = {{{0, 2}, {1, 3}}, {{0, 1, 2, 3}}};
  return program;
}

float at(Device& device, std::uint32_t rank, std::int64_t offset) {
  float value = 0;
  std::memcpy(&value, device.memory(rank).hbm() + offset, sizeof value);
  return value;
}

TEST(Programs, SendToEachOtherAndAddUpWithOperandsInOtherPlaces) {
  const Program front = part("front", 0, {send_to(1, kOwn), receive_from(1, kMessage), sum_of(kOwn, kSum)});
  const Program back = part("back", 2, {receive_from(0, kMessage), send_to(0, kOwn), sum_of(kMessage, kSum + 64)});
  for (const Programs& order : {Programs{&front, &back}, Programs{&back, &front}}) {
    const auto device = make_numeric_device();
    device->load_all(order);
    for (std::uint32_t r = 0; r < 4; ++r)
      for (int i = 0; i < 8; ++i) {
        const auto value = static_cast<float>(r + 1);
        std::memcpy(device->memory(r).hbm() + kOwn + i * 4, &value, 4);
      }
    device->run({.host_threads = 2});
    for (std::uint32_t r = 0; r < 4; ++r) {
      EXPECT_EQ(at(*device, r, kMessage), static_cast<float>((r + 2) % 4 + 1)) << r;
      // The front adds its own, 1 and 2, the back what it got from there.
      EXPECT_EQ(at(*device, r, kSum + (r < 2 ? 0 : 64)), 6) << r;
    }
  }
}

TEST(Programs, ADeadlockBetweenProgramsIsNamed) {
  const Program front = part("front", 0, {receive_from(1, kMessage), send_to(1, kOwn)});
  const Program back = part("back", 2, {receive_from(0, kMessage), send_to(0, kOwn)});
  const auto device = make_numeric_device();
  device->load_all({&front, &back});
  EXPECT_TRUE(fails(base::Fault::kProgram, [&] { device->run({}); },
                    {"deadlock",
                     "front (ranks 0 to 1) waits in call 0 (block) in recv of replica group 0: rank 0 for "
                     "rank 2",
                     "back (ranks 2 to 3)"}));
  const Program sums = part("front", 0, {sum_of(kOwn, kSum)}), ends = part("back", 2, {});
  device->load_all({&sums, &ends});
  EXPECT_TRUE(fails(base::Fault::kProgram, [&] { device->run({}); },
                    {"in all_reduce of replica group 1, for back", "back (ranks 2 to 3) has ended"}));
}

TEST(Programs, MismatchedProgramsAreRefused) {
  const Program front = part("front", 0, {}), back = part("back", 2, {}), wide = part("wide", 1, {}, 3);
  Program other = back;
  other.groups.pop_back();
  const auto device = make_numeric_device();
  const auto refused = [&](const Programs& programs, const char* why) {
    return fails(base::Fault::kProgram, [&] { device->load_all(programs); }, {why});
  };
  EXPECT_TRUE(refused({&front}, "rank 2 runs no program"));
  EXPECT_TRUE(refused({&front, &wide}, "rank 1 does not exist or runs another program"));
  EXPECT_TRUE(refused({&front, &other}, "are not those of \"front\""));
}

TEST(Programs, ARankNeedsAListOfTheGroupsThatItsProgramNames) {
  Instr reduce = sum_of(kOwn, kSum);
  Program program = part("front", 0, {reduce});
  program.groups[1] = {{0, 2}};  // nothing for rank 1, which would wait; rank 3 runs another program
  EXPECT_TRUE(fails(base::Fault::kProgram, [&] { check(program, trn1_target()); },
                    {"rank 1 is in no list of replica group 1"}));
  program.own_ranks = 1;
  check(program, trn1_target());
  program.own_ranks = 5;
  EXPECT_TRUE(fails(base::Fault::kProgram, [&] { check(program, trn1_target()); }, {"runs on ranks 0 to 5 of 4"}));
}

}  // namespace
}  // namespace isa
