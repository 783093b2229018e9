// How the checker's tests say that an instruction passes or is refused.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <string>

#include "isa/asm.h"
#include "isa/check.h"
#include "tests/isa/make_instr.h"
#include "tests/target.h"

namespace {

inline testing::AssertionResult accepted(const isa::Instr& instr) {
  const std::string message = message_of([&] { isa::check(instr, trn1_target()); });
  if (message.empty()) return testing::AssertionSuccess();
  return testing::AssertionFailure() << message;
}

/// Refused for `rule`, with the instruction's text, and with a fix.
inline testing::AssertionResult refused(const isa::Instr& instr, std::string_view rule) {
  const std::string message = message_of([&] { isa::check(instr, trn1_target()); });
  if (message.empty()) return testing::AssertionFailure() << "accepted: " << isa::print(instr);
  for (const std::string& part : {std::string{rule}, isa::print(instr), std::string{"\n  fix: "}})
    if (message.find(part) == std::string::npos)
      return testing::AssertionFailure() << "no \"" << part << "\" in: " << message;
  return testing::AssertionSuccess();
}

template <typename Change>
isa::Instr with(isa::Instr instr, Change change) {
  change(instr);
  return instr;
}

inline isa::Instr copy(isa::Tile dst, isa::Tile a, isa::Engine engine = isa::Engine::kVector) {
  return make(isa::Opcode::kTensorCopy, engine, dst, a);
}

inline isa::Tile at(isa::Tile tile, int start) {
  tile.start = static_cast<std::uint8_t>(start);
  return tile;
}

inline isa::Tile axes(isa::Tile tile, std::initializer_list<isa::Dim> dims) {
  tile.rank = static_cast<std::uint8_t>(dims.size());
  std::copy(dims.begin(), dims.end(), tile.free.begin());
  return tile;
}

}  // namespace
