// One exception type for the whole product: whose fault, where, what, and how to mend it.
#pragma once

#include <exception>
#include <string>
#include <string_view>

namespace base {

/// Whose fault it is; decides the exit code (README, "Exit codes").
enum class Fault {
  kUsage,        // a flag, key or value the user typed: exit 2
  kData,         // a file or data set the user brought: exit 2
  kProgram,      // a graph, plan or device program that breaks a rule: exit 2
  kCapacity,     // does not fit in the machine's memory: exit 3
  kNumerics,     // a value became NaN or infinite: exit 4
  kCheck,        // a comparison or a verification failed: exit 1
  kEnvironment,  // the host refused: disk full, no permission: exit 2
  kInternal,     // our own bug: exit 1
};

int exit_code(Fault fault);

/// `where`: the file:line, flag, tensor or instruction; `what`: one sentence; `fix`: one imperative sentence.
class Error : public std::exception {
 public:
  Error(Fault fault, std::string_view where, std::string_view what, std::string_view fix);
  const char* what() const noexcept override { return text_.c_str(); }
  Fault fault() const { return fault_; }

 private:
  Fault fault_;
  std::string text_;
};

/// Throws Fault::kInternal when `condition` is false: an invariant of ours, never a user's mistake.
void ensure(bool condition, std::string_view where, std::string_view what);

}  // namespace base
