#include "hw/network/fabric.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "base/error.h"
#include "hw/core/clock.h"

namespace hw {
namespace {

// Shares of a bandwidth add up to it but for the rounding of doubles.
constexpr double kRounding = 1e-9;

}  // namespace

void Link::carry(Fs begin, Fs end, double rate) {
  base::ensure(rate <= spare(begin) + kRounding * bandwidth_, name(), "carries more than its bandwidth");
  taken_.forget_before(time_now());
  taken_.add(begin, end, rate);
  bytes_ += rate * seconds(end - begin);
}

void Link::reset() {
  taken_ = {};
  bytes_ = 0;
}

Fabric::Fabric(sc_core::sc_module_name name, const Topology& topology, std::uint32_t instances)
    : sc_module{name}, per_instance_{topology.links()} {
  for (std::uint32_t i = 0; i < instances; ++i) {
    for (std::uint32_t link = 0; link < per_instance_; ++link) {
      const std::string text = fmt::format("instance{}_{}", i, topology.name(link));
      links_.push_back(std::make_unique<Link>(text.c_str(), topology.bandwidth(link)));
    }
  }
}

void Fabric::reset() {
  for (auto& link : links_) link->reset();
}

Fs Fabric::move(Fs begin, Fs moving, std::span<const LinkLoad> loads) {
  std::vector<Flow> flows;
  for (const LinkLoad& load : loads) {
    const std::size_t place = load.instance * per_instance_ + load.link;
    if (place < links_.size()) flows.push_back({links_[place].get(), load.bytes / seconds(moving)});
  }
  Fs now = begin;
  for (auto left = static_cast<double>(moving); left > 0;) {
    double pace = 1;
    Fs change = Bookings::kNever;
    for (const Flow& flow : flows) {
      const double spare = flow.link->spare(now);
      if (spare < flow.rate * (1 - kRounding)) pace = std::min(pace, std::max(spare, 0.0) / flow.rate);
      change = std::min(change, flow.link->next_change(now));
    }
    if (pace < kRounding) {  // one flow has all of a link
      base::ensure(change != Bookings::kNever, name(), "data waits for ever");
      now = change;
      continue;
    }
    const Fs end = std::min(change, now + static_cast<Fs>(std::ceil(left / pace)));
    for (const Flow& flow : flows) flow.link->carry(now, end, flow.rate * pace);
    left -= static_cast<double>(end - now) * pace;
    now = end;
  }
  return now;
}

void Fabric::check_bounds(Fs time) const {
  for (const auto& link : links_)
    base::ensure(link->bytes() <= link->bandwidth() * seconds(time) * (1 + kRounding), link->name(),
                 "carried more than it can in the time of the run");
}

}  // namespace hw
