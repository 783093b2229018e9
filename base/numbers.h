// Numbers as people type them.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace base {

/// A count with an optional suffix: k, m, g are powers of 1000, K, M, G powers of 1024 (as `vllm bench` reads them);
/// "1.5k" is 1500. `flag` names the option in errors. Errors: Fault::kUsage when it is not an integer.
std::int64_t parse_count(std::string_view flag, std::string_view text);

/// A real number: "5e-5", "0.01". Errors: Fault::kUsage when the text is not a finite number.
double parse_real(std::string_view flag, std::string_view text);

}  // namespace base
