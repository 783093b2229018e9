// Femtoseconds to and from SystemC's clock. 2.8 GHz is no whole number of picoseconds, hence the resolution.
#pragma once

#include <cmath>
#include <systemc>

#include "hw/trace.h"

namespace hw {

inline Fs time_now() { return sc_core::sc_time_stamp().value(); }

/// From now until `when`; nothing when that is past.
inline sc_core::sc_time time_until(Fs when) {
  const Fs now = time_now();
  return sc_core::sc_time::from_value(when > now ? when - now : 0);
}

/// Seconds as femtoseconds.
inline Fs fs_of(double time) { return static_cast<Fs>(std::llround(time * 1e15)); }

}  // namespace hw
