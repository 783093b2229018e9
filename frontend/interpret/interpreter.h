// The reference: computes a program node by node, each exactly as the specification says, rounded once to the format of
// its element. It is slow and plain, and knows nothing of the lowering whose oracle it is.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "frontend/graph/graph.h"
#include "frontend/interpret/processes.h"
#include "frontend/interpret/value.h"

namespace trnsim::frontend {

struct InterpreterLimits {
  std::int64_t nodes = 50'000'000;  // evaluations, of all processes together; a loop that does not end ends there
  int depth = 500;                  // calls within calls
};

/// The interpreter of one process.
class Interpreter {
 public:
  explicit Interpreter(const Module& module, Process process = {}, InterpreterLimits limits = {});
  ~Interpreter();

  /// The results of a function. Errors: Fault::kCheck when a check in the program fails, Fault::kCapacity beyond the
  /// limits, Fault::kProgram for values that the specification leaves undefined and for operators that are refused.
  std::vector<Value> run(FunctionId function, std::vector<Value> arguments);
  /// The same of scalars, in tensors [n].
  std::vector<Value> run_lanes(FunctionId function, std::vector<Value> arguments, std::int64_t lanes);

  const Module& module() const { return module_; }
  Process& process() { return process_; }
  InterpreterLimits limits() const { return limits_; }
  /// Whether the checks of the program were met: how many there were.
  std::int64_t checks() const { return checks_; }
  void count_check() { ++checks_; }

 private:
  struct Plan;
  const Plan& plan(FunctionId function);
  std::vector<Value> walk(FunctionId function, std::vector<Value> arguments, std::int64_t lanes);
  std::vector<Value> evaluate(const Function& function, const Node& node, const std::vector<Value>& values,
                              std::int64_t lanes);

  const Module& module_;
  Process process_;
  InterpreterLimits limits_;
  std::vector<std::unique_ptr<Plan>> plans_;  // of functions; empty until the first use
  std::int64_t nodes_ = 0, checks_ = 0;
  int depth_ = 0;
};

/// The results of an entry function on each of `replicas` x `partitions` processes, replica by replica.
std::vector<std::vector<Value>> run_on_processes(const Module& module,
                                                 const std::vector<std::vector<Value>>& arguments);

}  // namespace trnsim::frontend
