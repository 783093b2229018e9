// Random numbers. Bits by ThreeFry are XLA's: two words of 32 bits from a counter, with a key of 64 bits (Salmon et
// al., SC 2011). The other generators are left to the implementation by the specification: here Philox4x32-10.
#include <array>
#include <bit>
#include <cmath>
#include <numbers>

#include "base/philox.h"
#include "frontend/interpret/control.h"

namespace trnsim::frontend::evaluate {
namespace {

using Words = std::array<std::uint32_t, 2>;

Words words_of(std::uint64_t x) { return {static_cast<std::uint32_t>(x), static_cast<std::uint32_t>(x >> 32)}; }

Words threefry2x32(Words x, Words key) {
  constexpr std::array<std::array<int, 4>, 2> kTurns = {{{13, 15, 26, 6}, {17, 29, 16, 24}}};
  const std::array<std::uint32_t, 3> keys = {key[0], key[1], key[0] ^ key[1] ^ 0x1BD11BDAU};
  x[0] += keys[0], x[1] += keys[1];
  for (std::uint32_t group = 0; group < 5; ++group) {
    for (const int turn : kTurns.at(group % 2)) {
      x[0] += x[1];
      x[1] = std::rotl(x[1], turn) ^ x[0];
    }
    x[0] += keys.at((group + 1) % 3), x[1] += keys.at((group + 2) % 3) + group + 1;
  }
  return x;
}

/// Bits of 64 for each element, or of 32: two elements share a counter, the second halves behind all first ones.
Integers threefry_bits(std::uint64_t key, std::uint64_t& counter, std::size_t count, int bits) {
  const std::size_t pairs = bits == 64 ? count : (count + 1) / 2;
  std::vector<Words> words;
  for (std::size_t i = 0; i < pairs; ++i) words.push_back(threefry2x32(words_of(counter + i), words_of(key)));
  counter += pairs;
  Integers out;
  for (std::size_t i = 0; i < count; ++i) {
    if (bits == 64)
      out.push_back(static_cast<std::int64_t>(std::uint64_t{words[i][1]} << 32 | words[i][0]));
    else
      out.push_back(i < pairs ? words[i][0] : words[i - pairs][1]);
  }
  return out;
}

Integers philox_bits(std::uint64_t key, std::uint64_t& counter, std::size_t count) {
  Integers out;
  while (out.size() < count) {
    const base::PhiloxCounter four =
        base::philox4x32({words_of(counter)[0], words_of(counter)[1], 0, 0}, base::philox_key(key));
    ++counter;
    for (std::size_t i = 0; i < 4 && out.size() < count; i += 2)
      out.push_back(static_cast<std::int64_t>(std::uint64_t{four[i + 1]} << 32 | four[i]));
  }
  return out;
}

}  // namespace

void rng_bit_generator(Evaluation& e) {
  const Type type = e.result_type(1);
  require_room(type);
  Integers state = e.operand(0).integers();
  if (state.size() < 2) e.fail("its state must have at least two words");
  auto counter = static_cast<std::uint64_t>(state[1]);
  const auto key = static_cast<std::uint64_t>(state[0]);
  const auto count = static_cast<std::size_t>(element_count(type.dims));
  const int bits = info(type.element).bits;
  const bool philox = e.attributes().text("rng_algorithm") == "PHILOX";
  Integers numbers =
      philox ? philox_bits(key, counter, count) : threefry_bits(key, counter, count, bits == 64 ? 64 : 32);
  state[1] = static_cast<std::int64_t>(counter);
  e.put(value_of(e.result_type(0), std::move(state)));
  if (!is_float(type.element)) return e.put(value_of(type, std::move(numbers)));
  Reals reals;
  for (const std::int64_t x : numbers)
    reals.push_back(decode_float(type.element, bits == 64 ? static_cast<std::uint64_t>(x)
                                                          : static_cast<std::uint64_t>(x) & ((1ULL << bits) - 1)));
  e.put(exact_value(type, std::move(reals)));
}

/// Uniform in [a, b), or normal with mean a and deviation b.
void rng(Evaluation& e) {
  const Type type = e.result_type();
  require_room(type);
  base::PhiloxStream stream{0x5eed, e.node().first_result};
  const auto uniform = [&] {
    const std::uint32_t high = stream.next();
    return base::uniform01(high, stream.next());
  };
  const auto count = static_cast<std::size_t>(element_count(type.dims));
  if (!is_float(type.element)) {
    const std::int64_t a = e.operand(0).integers().front(), b = e.operand(1).integers().front();
    Integers out(count);
    for (std::int64_t& x : out) x = a + static_cast<std::int64_t>(std::floor(uniform() * static_cast<double>(b - a)));
    return e.put(value_of(type, std::move(out)));
  }
  const double a = e.operand(0).reals().front(), b = e.operand(1).reals().front();
  const bool normal = e.attributes().text("rng_distribution") == "NORMAL";
  Reals out(count);
  for (double& x : out) {
    const double u = uniform(), v = normal ? uniform() : 0;
    x = normal ? a + b * std::sqrt(-2 * std::log1p(-u)) * std::cos(2 * std::numbers::pi * v) : a + (b - a) * u;
  }
  e.put(value_of(type, std::move(out)));
}

}  // namespace trnsim::frontend::evaluate
