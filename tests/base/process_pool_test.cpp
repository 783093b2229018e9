#include "base/process_pool.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <csignal>
#include <fstream>
#include <map>
#include <memory>
#include <set>
#include <stdexcept>
#include <thread>
#include <vector>

#include "tests/sanitized.h"

namespace base {
namespace {

using Answers = std::map<std::size_t, ProcessPool::Answer>;

/// All of `items`, as many at a time as there is room for.
Answers all_of(ProcessPool& pool, std::size_t items) {
  Answers answers;
  for (std::size_t next = 0; answers.size() < items;) {
    while (next < items && pool.has_room()) pool.order(next++);
    for (ProcessPool::Answer& answer : pool.wait()) answers.emplace(answer.item, std::move(answer));
  }
  return answers;
}

TEST(ProcessPool, EachItemIsComputedOnceByAtMostSoManyProcesses) {
  ProcessPool pool{3, "test",
                   [](std::size_t item) { return std::to_string(item * item) + " " + std::to_string(::getpid()); }};
  std::set<std::string> processes;
  for (const auto& [item, answer] : all_of(pool, 40)) {
    const std::size_t blank = answer.bytes.find(' ');
    EXPECT_EQ(answer.bytes.substr(0, blank), std::to_string(item * item));
    processes.insert(answer.bytes.substr(blank + 1));
  }
  EXPECT_LE(processes.size(), 3u);
  EXPECT_FALSE(processes.contains(std::to_string(::getpid())));
  EXPECT_EQ(pool.busy(), 0u);
  EXPECT_TRUE(pool.wait().empty());  // nothing to wait for
}

TEST(ProcessPool, AnswersMayBeLong) {
  constexpr std::size_t kLong = 5'000'000;  // more than a socket holds
  ProcessPool pool{1, "test", [](std::size_t) { return std::string(kLong, 'x'); }};
  EXPECT_EQ(all_of(pool, 2).at(1).bytes.size(), kLong);
}

TEST(ProcessPool, ErrorsArriveWithTheirFields) {
  ProcessPool pool{2, "test", [](std::size_t item) -> std::string {
                     if (item == 0) throw Error{Fault::kCapacity, "a: b", "is\nfull: yes", "make room"};
                     throw std::runtime_error{"odd"};
                   }};
  const Answers answers = all_of(pool, 2);
  const Error& error = answers.at(0).error.value();
  EXPECT_EQ(error.fault(), Fault::kCapacity);
  EXPECT_EQ(error.where(), "a: b");
  EXPECT_EQ(error.problem(), "is\nfull: yes");
  EXPECT_EQ(error.fix(), "make room");
  EXPECT_EQ(answers.at(1).error.value().fault(), Fault::kInternal);
  EXPECT_EQ(answers.at(1).error.value().problem(), "odd");
}

TEST(ProcessPool, AChildThatDiesCostsItsItemOnly) {
  ProcessPool pool{2, "test", [](std::size_t item) -> std::string {
                     if (item == 3) std::raise(SIGKILL);
                     if (item == 5) ::_exit(7);
                     return "done";
                   }};
  for (const auto& [item, answer] : all_of(pool, 9)) {
    EXPECT_EQ(answer.killed, item == 3);
    if (item == 3)
      EXPECT_EQ(answer.death, "was killed by signal 9 (Killed)");
    else if (item == 5)
      EXPECT_EQ(answer.death, "ended with exit code 7 without a result");
    else
      EXPECT_EQ(answer.bytes, "done");
  }
}

TEST(ProcessPool, CtrlCIsLeftToTheParentAndTheEndOfThePoolEndsItsChildren) {
  pid_t child = 0;
  {
    ProcessPool pool{1, "test", [](std::size_t item) {
                       if (item == 0) return std::to_string(::getpid());
                       std::raise(SIGINT);
                       if (item == 1) return std::string{"lives"};
                       for (;;) ::pause();
                     }};
    const Answers answers = all_of(pool, 2);
    child = std::stoi(answers.at(0).bytes);
    EXPECT_EQ(answers.at(1).bytes, "lives");
    pool.order(2);
    EXPECT_TRUE(pool.wait(std::chrono::milliseconds{10}).empty());
    EXPECT_EQ(pool.busy(), 1u);
  }
  EXPECT_NE(::kill(child, 0), 0);
}

/// The pages of this process that are in memory.
std::size_t resident_bytes() {
  std::size_t all = 0, resident = 0;
  std::ifstream{"/proc/self/statm"} >> all >> resident;
  return resident * static_cast<std::size_t>(::sysconf(_SC_PAGESIZE));
}

// Behind a large item a child kept what it had freed, while another one needed it.
TEST(ProcessPool, AChildReturnsTheMemoryOfALargeItem) {
  if (kSanitized) GTEST_SKIP() << "the sanitizer has an allocator of its own";
  constexpr std::size_t kPieces = 200'000, kBytes = 1000;
  std::vector<std::unique_ptr<char[]>> kept;
  ProcessPool pool{1, "test", [&](std::size_t item) {
                     if (item == 1) return std::to_string(resident_bytes());
                     std::vector<std::unique_ptr<char[]>> pieces(kPieces);
                     for (auto& piece : pieces) piece = std::make_unique<char[]>(kBytes);
                     kept.push_back(std::move(pieces.back()));  // behind the others, which are a hole in front of it
                     return std::to_string(resident_bytes());
                   }};
  const Answers answers = all_of(pool, 2);
  EXPECT_GT(std::stoull(answers.at(0).bytes), kPieces * kBytes);
  EXPECT_LT(std::stoull(answers.at(1).bytes), kPieces * kBytes / 2);
}

}  // namespace
}  // namespace base
