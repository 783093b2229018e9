// The instructions of an engine that can be scheduled next, and the space that they need.
#pragma once

#include <algorithm>
#include <cstdint>
#include <functional>
#include <span>
#include <vector>

namespace runtime {

/// Space that an instruction opens: bytes of SBUF, and banks of PSUM.
struct Need {
  std::int32_t bytes = 0, banks = 0;

  std::int32_t& of(bool on_chip) { return on_chip ? bytes : banks; }
  bool operator==(const Need&) const = default;
};

/// Numbers of instructions from the largest to the smallest: small numbers change most, so that little moves.
class Numbers {
 public:
  void insert(std::uint32_t i) { all_.insert(place(i), i); }
  void erase(std::uint32_t i) { all_.erase(place(i)); }
  std::size_t size() const { return all_.size(); }
  /// The k-th smallest, from 0.
  std::uint32_t operator[](std::size_t k) const { return all_[all_.size() - 1 - k]; }

 private:
  std::vector<std::uint32_t>::iterator place(std::uint32_t i) {
    return std::ranges::lower_bound(all_, i, std::greater{});
  }
  std::vector<std::uint32_t> all_;
};

/// Ready instructions grouped by their needs: when one is refused, others with the same need are skipped.
class Ready {
 public:
  void insert(std::uint32_t i, const Need& need) {
    all_.insert(i);
    add(i, need);
  }
  void erase(std::uint32_t i, const Need& need) {
    all_.erase(i);
    remove(i, need);
  }
  void change(std::uint32_t i, const Need& before, const Need& after) {
    remove(i, before);
    add(i, after);
  }

  /// visit(i) for those of the `most` smallest that are not larger than `last` and whose need is still `open` when it
  /// is their turn, from the smallest on, until it returns false.
  void each(std::uint32_t last, std::size_t most, const auto& open, const auto& visit) {
    if (all_.size() > most) last = std::min(last, all_[most - 1]);
    for (Kind& kind : used()) kind.seen = 0;
    while (Kind* const kind = next(open)) {
      const std::uint32_t i = kind->numbers[kind->seen++];
      if (i > last || !visit(i)) return;
    }
  }

 private:
  struct Kind {
    Need need;
    Numbers numbers;
    std::size_t seen = 0;  // by the search that runs
  };

  /// The kind with the smallest number not seen yet.
  Kind* next(const auto& open) {
    Kind* out = nullptr;
    for (Kind& kind : used())
      if (kind.seen < kind.numbers.size() && open(kind.need) &&
          (!out || kind.numbers[kind.seen] < out->numbers[out->seen]))
        out = &kind;
    return out;
  }

  std::span<Kind> used() { return std::span{kinds_}.first(used_); }

  void add(std::uint32_t i, const Need& need) {
    const auto found = std::ranges::find(used(), need, &Kind::need);
    const auto at = static_cast<std::size_t>(found - used().begin());
    if (at == kinds_.size()) kinds_.emplace_back();
    if (at == used_) kinds_[used_++].need = need;
    kinds_[at].numbers.insert(i);
  }
  void remove(std::uint32_t i, const Need& need) {
    const auto kind = std::ranges::find(used(), need, &Kind::need);
    kind->numbers.erase(i);
    if (kind->numbers.size() == 0) std::swap(*kind, kinds_[--used_]);
  }

  Numbers all_;
  std::vector<Kind> kinds_;  // those behind the first `used_` are empty: memory for the next ones
  std::size_t used_ = 0;
};

}  // namespace runtime
