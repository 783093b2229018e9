#include "base/error.h"

#include <fmt/format.h>

namespace base {
namespace {

std::string_view name(Fault fault) {
  switch (fault) {
    case Fault::kUsage: return "usage error";
    case Fault::kData: return "data error";
    case Fault::kProgram: return "program error";
    case Fault::kCapacity: return "capacity error";
    case Fault::kNumerics: return "numerics error";
    case Fault::kCheck: return "check failed";
    case Fault::kEnvironment: return "environment error";
    case Fault::kInternal: return "internal error";
  }
  return "error";
}

}  // namespace

int exit_code(Fault fault) {
  switch (fault) {
    case Fault::kCapacity: return 3;
    case Fault::kNumerics: return 4;
    case Fault::kCheck:
    case Fault::kInternal: return 1;
    default: return 2;
  }
}

Error::Error(Fault fault, std::string_view where, std::string_view what, std::string_view fix)
    : fault_{fault},
      text_{fmt::format("{}{}{}{}{}{}{}", name(fault), kColon, where, kColon, what, kFix, fix)},
      where_{name(fault).size() + kColon.size()},
      problem_{where_ + where.size() + kColon.size()},
      fix_{problem_ + what.size() + kFix.size()} {}

void ensure(bool condition, std::string_view where, std::string_view what) {
  if (!condition) throw Error{Fault::kInternal, where, what, "please report this with the command that you ran"};
}

}  // namespace base
