// The instructions of a block, which its copies share.
#pragma once

#include <algorithm>
#include <initializer_list>
#include <memory>
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

  Instrs() = default;
  Instrs(List all) : all_{std::make_shared<List>(std::move(all))} {}  // NOLINT: the same thing
  Instrs(std::initializer_list<Instr> all) : Instrs{List{all}} {}

  std::size_t size() const { return all_ ? all_->size() : 0; }
  bool empty() const { return size() == 0; }
  const Instr* begin() const { return all_ ? all_->data() : nullptr; }
  const Instr* end() const { return begin() + size(); }
  const Instr& operator[](std::size_t i) const { return (*all_)[i]; }
  const Instr& at(std::size_t i) const {
    static const List kNone;
    return (all_ ? *all_ : kNone).at(i);
  }
  bool operator==(const Instrs& other) const {
    return all_ == other.all_ || std::equal(begin(), end(), other.begin(), other.end());
  }

  /// To change them; other copies stay as they are.
  List& own() {
    if (!all_) all_ = std::make_shared<List>();
    if (all_.use_count() > 1) all_ = std::make_shared<List>(*all_);
    return *all_;
  }
  /// The same for all copies that share, and for no other list while it is held.
  std::shared_ptr<const List> identity() const { return all_; }

 private:
  std::shared_ptr<List> all_;
};

}  // namespace isa
