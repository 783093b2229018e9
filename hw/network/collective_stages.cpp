#include "hw/network/collective_stages.h"

#include <algorithm>
#include <bit>

#include "base/error.h"
#include "isa/names.h"

namespace hw {
namespace {

using isa::Opcode;

double others(double ranks) { return (ranks - 1) / ranks; }

double& flow(Stage& stage, Pattern pattern) { return stage.flow[static_cast<std::size_t>(pattern)]; }

/// Steps in which `parts` members halve or double their data.
double steps(std::uint32_t parts) {
  return std::has_single_bit(parts) ? static_cast<double>(std::bit_width(parts)) - 1 : parts - 1.0;
}

/// How the members inside an instance pass on the parts of each other's data.
enum class Inner { kMesh, kHalving, kRing };

/// Halving is for sets inside one instance: published times of two are those of a ring.
Inner inner_of(double bytes, const Placement& at, const MachineParams& machine) {
  if (bytes < machine.cc_mesh_below.value) return Inner::kMesh;
  const bool halves = at.shape.instances == 1 && std::has_single_bit(at.shape.local);
  return halves && bytes < machine.cc_halving_below.value ? Inner::kHalving : Inner::kRing;
}

/// Writes the stages of one collective.
class Builder {
 public:
  Builder(const isa::Instr& instr, const Placement& placement, const MachineParams& machine)
      : at_{placement},
        machine_{machine},
        bytes_{collective_bytes(instr)},
        local_{static_cast<double>(placement.shape.local)},
        instances_{static_cast<double>(placement.shape.instances)},
        ranks_{local_ * instances_},
        inner_{inner_of(bytes_, placement, machine)} {}

  std::vector<Stage> take() { return std::move(stages_); }

  void all_reduce(std::int64_t elements) {
    if (static_cast<double>(elements) < ranks_) return all_ranks_reduce();
    reduce_scatter();
    gather_network();
    gather_local();
  }
  void reduce_scatter() {
    if (local_ > 1) local_half(2);
    if (instances_ > 1) network_half(2);
  }
  void all_gather() {
    gather_network();
    gather_local();
    stages_.back().read += bytes_ / ranks_;  // and its own part, from one operand to the other
    stages_.back().written += bytes_ / ranks_;
  }
  void all_to_all() {
    Stage& stage = add({.sent = others(ranks_) * bytes_, .read = bytes_, .written = bytes_, .latency = one_step()});
    flow(stage, Pattern::kMesh) = bytes_ / ranks_;
    flow(stage, Pattern::kNetwork) = local_ * (ranks_ - local_) * bytes_ / ranks_;
  }
  /// A chain of the instances, then one inside each.
  void broadcast() {
    const Stage pass{.sent = bytes_, .read = bytes_, .written = bytes_};
    if (instances_ > 1) {
      Stage& stage = add(pass);
      stage.latency = (instances_ - 1) * machine_.efa_latency.value;
      flow(stage, Pattern::kNetwork) = bytes_;
    }
    if (local_ > 1) {
      Stage& stage = add(pass);
      stage.latency = (local_ - 1) * ring_step();
      flow(stage, Pattern::kRing) = bytes_;
    }
  }
  void send(std::uint16_t peer) {
    Stage& stage = add({.sent = bytes_, .read = bytes_, .written = bytes_, .latency = one_step()});
    flow(stage, peer == 1 ? Pattern::kForward : Pattern::kBackward) = bytes_;
  }

 private:
  Stage& add(Stage stage) { return stages_.emplace_back(stage); }
  /// The latency of one step from every rank to every other.
  double one_step() const { return std::max(across(), at_.crosses ? machine_.efa_latency.value : 0); }
  /// The latency of one exchange of a mesh: a write passes the chips between without being stored there.
  double across() const { return at_.mesh_hops > 0 ? machine_.link_hop.value : 0; }

  /// Every rank sends everything to every other: too little to be divided.
  void all_ranks_reduce() {
    Stage& stage = add({.sent = (ranks_ - 1) * bytes_,
                        .read = (2 * ranks_ - 1) * bytes_,
                        .written = ranks_ * bytes_,
                        .latency = one_step()});
    flow(stage, Pattern::kMesh) = bytes_;
    flow(stage, Pattern::kNetwork) = local_ * (ranks_ - local_) * bytes_;
  }
  void gather_network() {
    if (instances_ > 1) network_half(1);
  }
  void gather_local() {
    if (local_ > 1) local_half(1);
  }

  /// Half an all-reduce inside the instances: each byte sent is written once and read `reads` times.
  void local_half(double reads) {
    const double sent = others(local_) * bytes_;
    Stage& stage = add({.sent = sent, .read = reads * sent, .written = sent});
    if (inner_ == Inner::kMesh) {
      flow(stage, Pattern::kMesh) = bytes_ / local_;
      stage.latency = across() + (local_ - 1) * machine_.cc_peer.value;
    } else if (inner_ == Inner::kHalving) {
      flow(stage, Pattern::kHalving) = bytes_;
      stage.latency = at_.halving_hops * machine_.link_hop.value;
    } else {
      flow(stage, Pattern::kRing) = sent;
      stage.messages = (local_ - 1) * message(bytes_ / local_);
      stage.latency = (local_ - 1) * ring_step();
    }
  }
  /// The least time of a message: one DMA engine moves each of its packets.
  double message(double bytes) const {
    const double longest = std::min(bytes, machine_.cc_packet.value);
    return (longest + machine_.dma_descriptor_overhead.value) / machine_.dma_rate.value;
  }
  /// The latency of a step of a ring: a member passes on only what it has stored.
  double ring_step() const {
    return at_.ring_hops > 0 ? machine_.cc_step.value + (at_.ring_hops - 1) * machine_.link_hop.value : 0;
  }
  /// The same between the instances, each rank with its part.
  void network_half(double reads) {
    const double sent = others(instances_) * bytes_ / local_;
    Stage& stage = add({.sent = sent,
                        .read = reads * sent,
                        .written = sent,
                        .latency = steps(at_.shape.instances) * machine_.efa_latency.value});
    flow(stage, Pattern::kNetwork) = local_ * sent;
  }

  const Placement& at_;
  const MachineParams& machine_;
  const double bytes_, local_, instances_, ranks_;
  const Inner inner_;
  std::vector<Stage> stages_;
};

}  // namespace

double collective_bytes(const isa::Instr& instr) {
  return static_cast<double>(std::max(instr.a.bytes(), instr.dst.bytes()));
}

std::string_view algorithm_of(const isa::Instr& instr, const Placement& at, const MachineParams& machine) {
  if (instr.op == Opcode::kSend) return "pair";
  if (instr.op == Opcode::kRecv || at.shape.size() == 1) return "none";
  if (at.shape.local == 1) return "network";
  const Inner inner = instr.op == Opcode::kAllToAll || instr.op == Opcode::kBarrier ? Inner::kMesh
                      : instr.op == Opcode::kBroadcast                              ? Inner::kRing
                                                       : inner_of(collective_bytes(instr), at, machine);
  const bool one = at.shape.instances == 1;
  switch (inner) {
    case Inner::kMesh: return one ? "mesh" : "mesh + network";
    case Inner::kHalving: return "halving";
    case Inner::kRing: break;
  }
  return one ? "ring" : "ring + network";
}

std::vector<Stage> stages_of(const isa::Instr& instr, const Placement& placement, const MachineParams& machine) {
  Builder builder{instr, placement, machine};
  if (instr.op == Opcode::kSend) builder.send(instr.peer);
  if (placement.shape.size() == 1) return builder.take();
  switch (instr.op) {
    case Opcode::kAllReduce: builder.all_reduce(instr.a.elements()); break;
    case Opcode::kReduceScatter: builder.reduce_scatter(); break;
    case Opcode::kAllGather: builder.all_gather(); break;
    case Opcode::kAllToAll: builder.all_to_all(); break;
    case Opcode::kBroadcast: builder.broadcast(); break;
    case Opcode::kSend:
    case Opcode::kRecv:     // the send has brought it
    case Opcode::kBarrier:  // moves nothing
      break;
    default:
      throw base::Error{base::Fault::kInternal, isa::name_of(instr.op), "is not a collective", "please report this"};
  }
  return builder.take();
}

double barrier_latency(const Placement& at, const MachineParams& machine) {
  const double inside = 2 * at.mesh_hops * machine.link_hop.value;
  return inside + std::bit_width(at.shape.instances - 1) * machine.efa_latency.value;
}

double least_sent(Opcode op, std::uint32_t ranks, double bytes) {
  if (ranks <= 1) return 0;
  switch (op) {
    case Opcode::kAllReduce: return 2 * others(ranks) * bytes;
    case Opcode::kReduceScatter:
    case Opcode::kAllGather:
    case Opcode::kAllToAll:
    case Opcode::kBroadcast: return others(ranks) * bytes;  // all but one must receive the data
    case Opcode::kSend: return bytes / 2;                   // of two ranks, one sends
    default: return 0;
  }
}

}  // namespace hw
