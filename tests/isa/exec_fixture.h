// A core with a little HBM, and short ways to fill and read tiles.
#pragma once

#include <gmock/gmock.h>

#include <cmath>
#include <cstring>
#include <functional>
#include <limits>
#include <memory>
#include <string>
#include <vector>

#include "base/error.h"
#include "base/philox.h"
#include "isa/exec.h"
#include "isa/exec/thread_team.h"

namespace isa {
namespace {

constexpr float kInf = std::numeric_limits<float>::infinity(), kNan = std::numeric_limits<float>::quiet_NaN();
constexpr auto kSbuf = Space::kSbuf, kPsum = Space::kPsum, kHbm = Space::kHbm;

inline Tile tile(Space space, int partitions, std::initializer_list<Dim> dims, Dtype dtype = Dtype::kFp32,
                 std::int64_t offset = 0) {
  Tile out{.space = space, .dtype = dtype, .rank = static_cast<std::uint8_t>(dims.size())};
  out.partitions = static_cast<std::uint16_t>(partitions);
  out.offset = offset;
  std::int64_t cols = 1;
  int d = 0;
  for (const Dim dim : dims) out.free[static_cast<std::size_t>(d++)] = dim, cols *= dim.size;
  out.pstep = cols * size_of(dtype);
  return out;
}
inline Tile on(Space space, int partitions, std::uint32_t cols, Dtype dtype = Dtype::kFp32, std::int64_t offset = 0) {
  return tile(space, partitions, {{1, cols}}, dtype, offset);
}

class ExecTest : public testing::Test {
 protected:
  /// Bytes of element i (flat) of row p.
  std::byte* at(const Tile& t, std::int64_t p, std::int64_t i) { return at(memory, t, p, i); }
  static std::byte* at(Memory& m, const Tile& t, std::int64_t p, std::int64_t i) {
    std::int64_t offset = t.offset;
    for (int d = t.rank - 1; d >= 0; --d) {
      const Dim& dim = t.free[static_cast<std::size_t>(d)];
      offset += i % dim.size * dim.step * size_of(t.dtype);
      i /= dim.size;
    }
    if (t.space == Space::kSbuf) return m.sbuf() + (t.start + p) * Memory::kSbufStride + offset;
    if (t.space == Space::kPsum) return m.psum() + (t.start + p) * Memory::kPsumStride + offset;
    return m.hbm() + kBase + p * t.pstep + offset;
  }
  static float get(Memory& m, const Tile& t, std::int64_t p, std::int64_t i) {
    std::uint32_t bits = 0;
    std::memcpy(&bits, at(m, t, p, i), static_cast<std::size_t>(size_of(t.dtype)));
    return decode(t.dtype, bits);
  }
  float get(const Tile& t, std::int64_t p, std::int64_t i) { return get(memory, t, p, i); }
  static void put(Memory& m, const Tile& t, std::int64_t p, std::int64_t i, float value) {
    const std::uint32_t bits = encode(t.dtype, value);
    std::memcpy(at(m, t, p, i), &bits, static_cast<std::size_t>(size_of(t.dtype)));
  }
  void put(const Tile& t, std::int64_t p, std::int64_t i, float value) { put(memory, t, p, i, value); }
  void fill(const Tile& t, const std::function<float(std::int64_t, std::int64_t)>& value) {
    for (std::int64_t p = 0; p < t.partitions; ++p)
      for (std::int64_t i = 0; i < t.cols(); ++i) put(t, p, i, value(p, i));
  }
  void fill_random(const Tile& t, std::uint64_t seed, float scale = 4) {
    base::PhiloxStream random{seed};
    fill(t, [&](auto, auto) { return (random.uniform() - 0.5f) * scale; });
  }
  /// Every element of `t` is `want(p, i)`, exactly.
  void expect(const Tile& t, const std::function<float(std::int64_t, std::int64_t)>& want) {
    for (std::int64_t p = 0; p < t.partitions; ++p)
      for (std::int64_t i = 0; i < t.cols(); ++i) ASSERT_EQ(get(t, p, i), want(p, i)) << p << ", " << i;
  }
  std::vector<float> values(const Tile& t) {
    std::vector<float> out;
    for (std::int64_t p = 0; p < t.partitions; ++p)
      for (std::int64_t i = 0; i < t.cols(); ++i) out.push_back(get(t, p, i));
    return out;
  }
  void run(const Instr& instr, std::uint32_t index = 0) { execute(instr, index, context); }
  testing::AssertionResult throws(const Instr& instr, base::Fault fault, const std::string& text) {
    try {
      run(instr);
    } catch (const base::Error& error) {
      if (error.fault() == fault && std::string{error.what()}.find(text) != std::string::npos)
        return testing::AssertionSuccess();
      return testing::AssertionFailure() << error.what();
    }
    return testing::AssertionFailure() << "nothing thrown";
  }

  static constexpr std::uint64_t kBase = 4096;
  Memory memory{std::uint64_t{8} << 20};
  std::vector<std::uint64_t> bases{kBase};
  Context context{.memory = memory, .bases = bases};
};

}  // namespace
}  // namespace isa
