#include "isa/instrs.h"

#include <array>
#include <bit>
#include <cstdint>
#include <cstring>
#include <type_traits>

namespace isa {
namespace {

using Word = std::uint64_t;
constexpr std::size_t kWords = sizeof(Instr) / sizeof(Word);
static_assert(sizeof(Instr) % sizeof(Word) == 0 && kWords <= 64 && std::is_trivially_copyable_v<Instr>);
using Words = std::array<Word, kWords>;

/// The last instruction of each opcode: the next one of it has most words in common.
class Last {
 public:
  Last() {
    const Instr none{};
    for (Words& words : words_) std::memcpy(words.data(), &none, sizeof(Instr));
  }
  Words& of(Opcode op) { return words_[static_cast<std::uint8_t>(op)]; }

 private:
  std::array<Words, 256> words_;
};

/// Each instruction: its opcode, a bit for each word that differs from the last one's, and these words.
std::string packed(const Instrs::List& list) {
  constexpr std::size_t kMost = sizeof(Opcode) + sizeof(Word) + sizeof(Instr);
  Last last;
  std::string out;
  std::array<char, kMost> bytes{};
  for (const Instr& instr : list) {
    Words words;
    std::memcpy(words.data(), &instr, sizeof(Instr));
    Words& before = last.of(instr.op);
    std::size_t size = sizeof(Opcode) + sizeof(Word);
    Word changed = 0;
    for (std::size_t w = 0; w < kWords; ++w) {
      if (words[w] == before[w]) continue;
      changed |= Word{1} << w;
      std::memcpy(bytes.data() + size, &words[w], sizeof(Word));
      size += sizeof(Word);
    }
    before = words;
    std::memcpy(bytes.data(), &instr.op, sizeof(Opcode));
    std::memcpy(bytes.data() + sizeof(Opcode), &changed, sizeof(Word));
    out.append(bytes.data(), size);
  }
  out.shrink_to_fit();
  return out;
}

Instrs::List unpacked(const std::string& bytes, std::size_t size) {
  Last last;
  Instrs::List out;
  out.reserve(size);
  const char* at = bytes.data();
  while (out.size() < size) {
    Opcode op{};
    Word changed = 0;
    std::memcpy(&op, at, sizeof(Opcode));
    std::memcpy(&changed, at + sizeof(Opcode), sizeof(Word));
    at += sizeof(Opcode) + sizeof(Word);
    Words& words = last.of(op);
    for (; changed != 0; changed &= changed - 1, at += sizeof(Word))
      std::memcpy(&words[static_cast<std::size_t>(std::countr_zero(changed))], at, sizeof(Word));
    out.push_back(std::bit_cast<Instr>(words));
  }
  return out;
}

}  // namespace

Instrs::List& Instrs::Body::change() {
  list();
  packed_.clear();
  return *open_.load();
}

void Instrs::Body::pack() {
  const std::lock_guard lock{unpacking_};
  const List* open = open_.load();
  if (open == nullptr) return;
  if (packed_.empty()) packed_ = packed(*open), packed_size_ = open->size();
  if (packed_.empty()) return;  // no instruction
  open_ = nullptr;
  delete open;
}

const Instrs::List& Instrs::Body::unpack() const {
  const std::lock_guard lock{unpacking_};
  if (open_.load() == nullptr) open_.store(new List(unpacked(packed_, packed_size_)), std::memory_order_release);
  return *open_.load();
}

}  // namespace isa
