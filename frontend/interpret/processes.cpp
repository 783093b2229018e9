#include "frontend/interpret/processes.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "base/error.h"

namespace trnsim::frontend {

/// No process runs, and none of them has got the values that it waits for.
bool World::stuck() const {
  return static_cast<std::int64_t>(waiting_.size()) + gone_ == size() &&
         std::ranges::none_of(waiting_, [](const Done* done) { return (*done)(); });
}

void World::wait(std::unique_lock<std::mutex>& lock, const Done& done) {
  waiting_.push_back(&done);
  const auto self = std::prev(waiting_.end());
  while (!done() && !failed_) {
    if (stuck()) failed_ = true;
    if (!failed_) changed_.wait(lock);
  }
  waiting_.erase(self);
  if (done()) return;
  changed_.notify_all();
  throw base::Error{base::Fault::kProgram, "collectives", "a process waits for others that never arrive",
                    "make every process of a group reach the same collectives in the same order"};
}

std::vector<std::vector<Value>> World::meet(const Group& group, std::int64_t channel, std::int64_t self,
                                            std::vector<Value> values) {
  std::unique_lock lock{mutex_};
  const auto key = std::pair{group, channel};
  // The members of the meeting before this one may still be leaving.
  wait(lock, [&] { return !meetings_.contains(key) || meetings_.at(key).all.empty(); });
  Meeting& meeting = meetings_[key];
  meeting.brought[self] = std::move(values);
  if (meeting.brought.size() == group.size()) {
    for (const std::int64_t member : group) meeting.all.push_back(std::move(meeting.brought.at(member)));
    meeting.left = static_cast<std::int64_t>(group.size());
    changed_.notify_all();
  } else {
    wait(lock, [&] { return !meeting.all.empty(); });
  }
  std::vector<std::vector<Value>> all = meeting.all;
  if (--meeting.left == 0) {
    meetings_.erase(key);
    changed_.notify_all();
  }
  return all;
}

void World::send(std::int64_t channel, std::vector<Value> values) {
  const std::lock_guard lock{mutex_};
  channels_[channel].push_back(std::move(values));
  changed_.notify_all();
}

std::vector<Value> World::receive(std::int64_t channel) {
  std::unique_lock lock{mutex_};
  auto& queue = channels_[channel];
  wait(lock, [&] { return !queue.empty(); });
  std::vector<Value> values = std::move(queue.front());
  queue.pop_front();
  return values;
}

void World::leave(bool failed) {
  const std::lock_guard lock{mutex_};
  ++gone_;
  if (failed) failed_ = true;
  changed_.notify_all();
}

}  // namespace trnsim::frontend
