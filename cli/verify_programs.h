// `trnsim verify FILE.mlir...`: programs that check themselves.
#pragma once

#include <string>
#include <vector>

namespace cli {

struct VerifyProgramsRequest {
  std::vector<std::string> files;
  std::string format;
  bool reference = false, cores = false;
};
/// Whether the argument names a program and not a folder with a trajectory.
bool is_program(const std::string& argument);
/// Prints the outcomes. Errors: Fault::kCheck when one is wrong, Fault::kProgram when one is refused.
void verify_programs(const VerifyProgramsRequest& request);

}  // namespace cli
