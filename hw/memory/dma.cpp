#include "hw/memory/dma.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "hw/core/clock.h"
#include "hw/core/process.h"

namespace hw {

Dma::Dma(sc_core::sc_module_name name, const MachineParams& machine, HbmStack& hbm, Listener listener)
    : sc_module{name},
      engines_{machine.dma_engines.value},
      start_{fs_of(machine.dma_start.value)},
      // A sequencer that has made descriptors takes the next DMA as any instruction, and sees its semaphore.
      generation_{fs_of(machine.dma_generation.value + machine.min_interval.value / machine.sync_clock.value +
                        machine.semaphore.value)},
      generators_(static_cast<std::size_t>(machine.dma_generators.value)),
      hbm_{hbm},
      turnaround_{machine.hbm_turnaround.value},
      listener_{std::move(listener)} {
  SC_METHOD(wake);
  sensitive << step_;
  dont_initialize();
}

void Dma::submit(std::uint8_t ring, const Transfer& transfer, std::uint32_t index, Fs when) {
  auto& jobs = rings_[ring];
  if (!generators_.empty()) {
    Fs& made = *std::ranges::min_element(generators_);
    when = std::max(when, made);
    made = when + generation_;
  }
  const Job job{.transfer = &transfer, .index = index, .ready = when + start_};
  // Sequencers run ahead of the clock, so two of them that feed one ring may ring the doorbell out of order.
  auto place = jobs.end();
  while (place != jobs.begin() && !std::prev(place)->moving && std::prev(place)->ready > job.ready) --place;
  jobs.insert(place, job);
  filled_ |= 1u << ring;
  ++pending_;
  step_.notify(time_until(job.ready));
}

void Dma::book(Fs begin, Fs end, double width) { collectives_.add(begin, end, width); }

Fs Dma::take_active_time() { return std::exchange(active_, 0); }

void Dma::wake() {
  guarded([this] { step(); });
}

void Dma::step() {
  const Fs now = time_now();
  advance(now);
  start_ready(now);
  share(now);
  if (const Fs next = next_event(now); next != Bookings::kNever) step_.notify(time_until(next));
}

/// Advances everything to `now`; completes jobs with nothing left.
void Dma::advance(Fs now) {
  const auto elapsed = static_cast<double>(now - last_);
  if (moving_ != 0) active_ += now - last_;
  last_ = now;
  each(moving_, [&](std::uint8_t ring) {
    auto& jobs = rings_[ring];
    Job& job = jobs.front();
    job.left -= elapsed * job.width;
    // next_event() rounds up to whole femtoseconds, so a job is done at its event but for the rounding of a double.
    if (job.left > 1e-6 * job.work && job.left > job.width) return;
    const Job done = job;
    jobs.pop_front();
    moving_ &= ~(1u << ring);
    if (jobs.empty()) filled_ &= ~(1u << ring);
    --pending_;
    changed_ = true;
    listener_.completes(done.index, ring, done.begin, now);
  });
}

void Dma::start_ready(Fs now) {
  each(filled_ & ~moving_, [&](std::uint8_t ring) {
    Job& job = rings_[ring].front();
    if (job.ready > now) return;
    job.moving = true;
    moving_ |= 1u << ring;
    changed_ = true;
    job.begin = now;
    job.left = job.work = job.transfer->work + static_cast<double>(job.transfer->tail) * job.transfer->width;
    listener_.begins(job.index, ring, now);
  });
}

/// Divides the engines into equal shares, none larger than it can use; then slows everything down to the bandwidth of
/// the engines' common path and of HBM.
void Dma::share(Fs now) {
  if (moving_ == 0) return;
  const Free there{.engines = std::max(engines_ - collectives_.booked(now), engines_ * kLeftByCollectives),
                   .hbm = hbm_.available(now) * 1e-15};
  if (!std::exchange(changed_, false) && there == free_) return;  // every job keeps its width
  free_ = there;
  std::array<Job*, isa::kDmaQueues> open;  // the narrowest first, of equal ones the lowest ring
  std::size_t count = 0;
  each(moving_, [&](std::uint8_t ring) {
    Job* const job = &rings_[ring].front();
    std::size_t place = count++;
    for (; place > 0 && open[place - 1]->transfer->width > job->transfer->width; --place) open[place] = open[place - 1];
    open[place] = job;
  });
  double left = there.engines, read = 0, written = 0,
         shared = 0;  // read, written: bytes per femtosecond of HBM; shared: of the path, 0..1
  for (std::size_t i = 0; i < count; ++i) {
    Job& job = *open[i];
    job.width = std::min(job.transfer->width, left / static_cast<double>(count - i));
    left -= job.width;
    const double pace = job.width / job.work;
    read += pace * static_cast<double>(job.transfer->read_bytes);
    written += pace * static_cast<double>(job.transfer->written_bytes);
    shared += pace * job.transfer->shared;
  }
  const double common = std::min(1.0, there.engines / engines_ / shared);
  // A bus of DRAM moves nothing while it turns from reading to writing.
  const double turning = turnaround_ * 2 * std::min(read, written);
  const double memory = std::min(common, there.hbm / (read + written + turning));
  for (std::size_t i = 0; i < count; ++i)
    open[i]->width *= open[i]->transfer->read_bytes + open[i]->transfer->written_bytes > 0 ? memory : common;
}

Fs Dma::next_event(Fs now) {
  Fs next = Bookings::kNever;
  each(filled_, [&](std::uint8_t ring) {
    const Job& job = rings_[ring].front();
    next = std::min(next, job.moving ? now + static_cast<Fs>(std::ceil(job.left / job.width)) : job.ready);
  });
  if (moving_ == 0) return next;
  return std::min({next, collectives_.next_change(now), hbm_.next_change(now)});
}

}  // namespace hw
