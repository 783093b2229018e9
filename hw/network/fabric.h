// NeuronLink and EFA: the links between chips and instances, which collectives share.
#pragma once

#include <memory>
#include <span>
#include <vector>

#include <systemc>

#include "hw/memory/hbm.h"
#include "hw/network/link_loads.h"
#include "hw/network/topology.h"

namespace hw {

/// One direction of a port of NeuronLink, or of an instance's network. Transfers under way keep their
/// bandwidth; later ones get the rest.
class Link : public sc_core::sc_module {
 public:
  Link(sc_core::sc_module_name name, double bandwidth) : sc_module{name}, bandwidth_{bandwidth} {}

  /// B/s that nothing has taken at `when`, and the next time at which that changes.
  double spare(Fs when) const { return bandwidth_ - taken_.booked(when); }
  Fs next_change(Fs when) const { return taken_.change_after(when); }
  /// Carries `rate` B/s. Errors: Fault::kInternal when that is more than is spare.
  void carry(Fs begin, Fs end, double rate);
  double bytes() const { return bytes_; }
  double bandwidth() const { return bandwidth_; }
  void reset();

 private:
  const double bandwidth_;
  Bookings taken_;
  double bytes_ = 0;
};

/// The links of the first `instances` instances: of those with simulated cores. The others are alike and do the same.
class Fabric : public sc_core::sc_module {
 public:
  Fabric(sc_core::sc_module_name name, const Topology& topology, std::uint32_t instances);

  void reset();
  /// Data that takes `moving` with `loads` on free links begins at `begin`. Takes the links; returns the end.
  Fs move(Fs begin, Fs moving, std::span<const LinkLoad> loads);
  /// Errors: Fault::kInternal when a link carried more than it can in `time`.
  void check_bounds(Fs time) const;

  const Link& link(std::uint32_t instance, std::uint32_t link) const {
    return *links_[instance * per_instance_ + link];
  }

 private:
  struct Flow {
    Link* link;
    double rate;  // B/s on a free link
  };

  const std::uint32_t per_instance_;
  std::vector<std::unique_ptr<Link>> links_;  // by instance and link
};

}  // namespace hw
