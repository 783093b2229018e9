#include "runtime/nki/bodies.h"

#include <optional>

namespace runtime::nki {

std::size_t Bodies::enter() {
  open_.emplace_back();
  return open_.size() - 1;
}

void Bodies::again(std::size_t body) {
  open_.resize(body + 1);
  for (auto& [block, added] : open_.back()) {
    std::optional<std::vector<Region>>& sums = block.first->blocks.at(block.second).sums;
    added.after = *std::exchange(sums, added.before);
  }
}

void Bodies::leave(std::size_t body) {
  if (body >= open_.size()) return;
  for (auto& [block, added] : open_[body]) block.first->blocks.at(block.second).sums = std::move(added.after);
  open_.resize(body);
}

void Bodies::write(const std::shared_ptr<Storage>& storage, std::size_t block) {
  if (open_.empty() || storage->space != isa::Space::kPsum) return;
  BlockState& state = storage->blocks.at(block);
  if (!state.sums) state.sums = state.written;
  for (Body& body : open_) body.try_emplace({storage, block}, Added{.before = *state.sums});
}

void Bodies::program(std::size_t number) {
  if (number == program_) return;
  others_[program_] = std::move(open_);
  open_ = std::move(others_[number]);
  program_ = number;
}

}  // namespace runtime::nki
