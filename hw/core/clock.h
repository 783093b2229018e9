// Femtoseconds to and from SystemC's clock. 2.8 GHz is not a whole number of picoseconds, hence the resolution.
#pragma once

#include <systemc>

#include "hw/trace.h"

namespace hw {

inline Fs time_now() { return sc_core::sc_time_stamp().value(); }

/// From now until `when`; nothing when that is past.
inline sc_core::sc_time time_until(Fs when) {
  const Fs now = time_now();
  return sc_core::sc_time::from_value(when > now ? when - now : 0);
}

}  // namespace hw
