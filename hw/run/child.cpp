#include "base/error.h"
#include "base/process_pool.h"
#include "hw/run/machine.h"
#include "hw/run/serial.h"
#include "hw/sim_device.h"

namespace hw {

using base::Error;
using base::Fault;

SimResult simulate_in_child(const isa::Program& program, const MachineParams& machine, const SimOptions& options) {
  return simulate_in_child(isa::Programs{&program}, machine, options);
}

SimResult simulate_in_child(const isa::Programs& programs, const MachineParams& machine, const SimOptions& options) {
  return slowest(simulate_each_in_child(programs, machine, options));
}

std::vector<SimResult> simulate_each_in_child(const isa::Programs& programs, const MachineParams& machine,
                                              const SimOptions& options) {
  if (options.execute)
    throw Error{Fault::kUsage, programs.front()->name, "a child would lose the memory that the full mode computes",
                "use simulate() or make_sim_device()"};
  if (options.times) {  // the child's knowledge of blocks would be lost
    for (const isa::Program* program : programs) time_program(*program, machine, *options.times);
    options.times->mark();
  }
  base::ProcessPool child{1, "simulation child", [&](std::size_t) {
                            Outcome outcome{simulate_held(programs, machine, options), {}};
                            if (options.times) outcome.news = options.times->news();
                            return to_bytes(outcome);
                          }};
  {
    const auto kernel = hold_kernel();  // no other thread is in the middle of a simulation: the child holds it alone
    child.order(0);
  }
  std::vector<base::ProcessPool::Answer> answers;
  while (answers.empty()) answers = child.wait();  // a signal may end it early
  const base::ProcessPool::Answer& answer = answers.front();
  if (answer.error) throw *answer.error;
  if (answer.killed)
    throw Error{Fault::kEnvironment, "simulation child", answer.death,
                "run it again with more free memory: the system may have run out of it"};
  if (!answer.death.empty())
    throw Error{Fault::kInternal, "simulation child", answer.death, "please report this with the command that you ran"};
  Outcome outcome = from_bytes(answer.bytes);
  if (options.times) options.times->learn(std::move(outcome.news));
  return std::move(outcome.results);
}

}  // namespace hw
