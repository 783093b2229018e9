// The instructions of a block, which its copies share.
#pragma once

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <initializer_list>
#include <memory>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

#include "isa/instr.h"

namespace isa {

/// A list of instructions that takes no time to copy: programs that are compiled one after the other have the same
/// blocks, of 100,000 instructions and more. Only own() lets one change them.
class Instrs {
 public:
  using value_type = Instr;
  using List = std::vector<Instr>;
  using Identity = std::shared_ptr<const void>;

  Instrs() = default;
  Instrs(List all) : body_{std::make_shared<Body>(std::move(all))} {}  // NOLINT: implicit on purpose
  Instrs(std::initializer_list<Instr> all) : Instrs{List{all}} {}

  std::size_t size() const { return body_ ? body_->size() : 0; }
  bool empty() const { return size() == 0; }
  const Instr* begin() const { return body_ ? body_->list().data() : nullptr; }
  const Instr* end() const { return begin() + size(); }
  const Instr& operator[](std::size_t i) const { return body_->list()[i]; }
  const Instr& at(std::size_t i) const {
    static const List kNone;
    return (body_ ? body_->list() : kNone).at(i);
  }
  bool operator==(const Instrs& other) const {
    return body_ == other.body_ || std::equal(begin(), end(), other.begin(), other.end());
  }

  /// For changes; other copies stay unchanged.
  List& own() {
    if (!body_) body_ = std::make_shared<Body>(List{});
    if (body_.use_count() > 1) body_ = std::make_shared<Body>(body_->list());
    return body_->change();
  }
  /// Equal for all copies that share, and for no other list while it is held.
  Identity identity() const { return body_; }

  /// Keeps them in a fifth of the memory until they are read again, which takes as long as copying them. For all
  /// copies that share: none of them may be in use at that time, and pointers to instructions no longer hold.
  void pack() const {
    if (body_) body_->pack();
  }
  bool is_packed() const { return body_ && body_->is_packed(); }
  /// Whether there are other copies, which may be being read.
  bool is_shared() const { return body_.use_count() > 1; }

 private:
  class Body {
   public:
    explicit Body(List all) : open_{new List(std::move(all))} {}
    ~Body() { delete open_.load(); }
    Body(const Body&) = delete;
    Body& operator=(const Body&) = delete;

    const List& list() const {
      const List* open = open_.load(std::memory_order_acquire);
      return open != nullptr ? *open : unpack();
    }
    std::size_t size() const {
      const List* open = open_.load(std::memory_order_acquire);
      return open != nullptr ? open->size() : packed_size_;
    }
    bool is_packed() const { return open_.load(std::memory_order_acquire) == nullptr; }
    List& change();
    void pack();

   private:
    const List& unpack() const;

    mutable std::atomic<List*> open_;  // nothing while they are packed
    mutable std::mutex unpacking_;
    std::string packed_;  // empty: never packed, or changed since
    std::size_t packed_size_ = 0;
  };

  std::shared_ptr<Body> body_;
};

/// While it lives, instructions may be read that are packed again behind it if they were before.
class ReadOnce {
 public:
  explicit ReadOnce(const Instrs& instrs) : instrs_{instrs}, packed_{instrs.is_packed()} {}
  ~ReadOnce() {
    if (packed_) instrs_.pack();
  }
  ReadOnce(const ReadOnce&) = delete;
  ReadOnce& operator=(const ReadOnce&) = delete;

 private:
  const Instrs& instrs_;
  bool packed_;
};

}  // namespace isa
