// Which instructions can be scheduled next, and what they need.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <functional>
#include <vector>

namespace runtime {

/// Numbers from the largest to the smallest: what comes and goes is small, so that little of the list moves.
class ReadyList {
 public:
  void insert(std::uint32_t i) { numbers_.insert(place(i), i); }
  void erase(std::uint32_t i) { numbers_.erase(place(i)); }
  /// visit(i) for the smallest ones, none larger than `last` and `most` of them at most, from the smallest on, until
  /// it returns false.
  void each(std::uint32_t last, std::size_t most, const auto& visit) const {
    const std::size_t end = numbers_.size() - std::min(most, numbers_.size());
    for (std::size_t k = numbers_.size(); k-- > end;)
      if (numbers_[k] > last || !visit(numbers_[k])) return;
  }

 private:
  std::vector<std::uint32_t>::iterator place(std::uint32_t i) {
    return std::ranges::lower_bound(numbers_, i, std::greater{});
  }

  std::vector<std::uint32_t> numbers_;
};

/// Space that an instruction opens: bytes of SBUF, and banks of PSUM.
struct Need {
  std::int64_t bytes = 0, banks = 0;

  std::int64_t& of(bool on_chip) { return on_chip ? bytes : banks; }
  bool operator==(const Need&) const = default;
};

/// Instructions by what they need: who needs as much as was refused to another one need not be looked at.
class Kinds {
 public:
  explicit Kinds(const std::vector<Need>& needs) : of_(needs.size()) {
    for (std::uint32_t i = 0; i < needs.size(); ++i) set(i, needs[i]);
  }
  void set(std::uint32_t i, const Need& need) {
    const auto kind = static_cast<std::size_t>(std::ranges::find(known_, need) - known_.begin());
    if (kind == known_.size() && kind < kMost - 1) known_.push_back(need);
    of_[i] = static_cast<std::uint8_t>(kind);
  }

  void refuse_none() { refused_.fill(0); }
  /// From now on those that need so much of one of the memories.
  void refuse(std::int64_t bytes, std::int64_t banks) {
    for (std::size_t k = 0; k < known_.size(); ++k)
      refused_[k] = known_[k].bytes >= bytes || known_[k].banks >= banks ? 1 : 0;
  }
  /// False for those of too many kinds: nobody knows.
  bool refused(std::uint32_t i) const { return refused_[of_[i]] != 0; }

 private:
  static constexpr std::size_t kMost = 64;  // the last one: all further ones
  std::vector<Need> known_;                 // of the kinds but the last
  std::vector<std::uint8_t> of_;            // of an instruction
  std::array<char, kMost> refused_{};
};

}  // namespace runtime
