// One exception type for the whole product: whose fault, where, what, and how to mend it.
#pragma once

#include <cstddef>
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
/// what() has all parts: "FAULT: WHERE: WHAT\n  fix: FIX". To read one part use its member, not that text.
class Error : public std::exception {
 public:
  Error(Fault fault, std::string_view where, std::string_view what, std::string_view fix);
  const char* what() const noexcept override { return text_.c_str(); }
  Fault fault() const { return fault_; }
  std::string_view where() const { return std::string_view{text_}.substr(where_, problem_ - kColon.size() - where_); }
  /// The sentence that says what is wrong.
  std::string_view problem() const { return std::string_view{text_}.substr(problem_, fix_ - kFix.size() - problem_); }
  std::string_view fix() const { return std::string_view{text_}.substr(fix_); }
  /// "WHERE: WHAT", for a place that has neither use for whose fault it is nor room for the fix.
  std::string_view reason() const { return std::string_view{text_}.substr(where_, fix_ - kFix.size() - where_); }

 private:
  static constexpr std::string_view kColon = ": ", kFix = "\n  fix: ";

  Fault fault_;
  std::string text_;
  std::size_t where_, problem_, fix_;  // where the parts begin in text_
};

/// Throws Fault::kInternal when `condition` is false: an invariant of ours, never a user's mistake.
void ensure(bool condition, std::string_view where, std::string_view what);

}  // namespace base
