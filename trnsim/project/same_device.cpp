#include "trnsim/project/same_device.h"

#include <algorithm>
#include <vector>

namespace trnsim {

bool same_device(const hw::MachineParams& a, const hw::MachineParams& b, std::int64_t cores) {
  using hw::MachineParams;
  std::vector<MachineParams::Number MachineParams::*> beside = {
      &MachineParams::chips,         &MachineParams::vcpus,       &MachineParams::host_memory,
      &MachineParams::efa_bandwidth, &MachineParams::efa_latency, &MachineParams::training};
  if (static_cast<double>(cores) <= a.cores.value)  // all on one chip: no link
    beside.insert(beside.end(), {&MachineParams::link_bandwidth, &MachineParams::link_ports, &MachineParams::link_hop,
                                 &MachineParams::torus_rows, &MachineParams::torus_columns});
  return std::ranges::all_of(MachineParams::fields(), [&](const MachineParams::Field& field) {
    return std::ranges::find(beside, field.member) != beside.end() ||
           (a.*field.member).value == (b.*field.member).value;
  });
}

}  // namespace trnsim
