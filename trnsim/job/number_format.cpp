// The one number format that several settings spell.
#include <fmt/format.h>

#include "base/error.h"
#include "trnsim/job/settings.h"

namespace trnsim {
namespace {

using base::Error;
using base::Fault;

/// torch-xla's switches make bf16 of fp32; the runtime turns stochastic rounding on with them.
/// Source: AWS Neuron docs, rounding modes.
void apply_downcast(NumericsSettings& n, std::set<std::string>& given) {
  if (!n.xla_use_bf16 && !n.xla_downcast_bf16) return;
  const char* name = n.xla_use_bf16 ? "`xla_use_bf16`" : "`xla_downcast_bf16`";
  if (!n.name.empty() && !n.name.starts_with("fp32") && !n.name.starts_with("bf16"))
    throw Error{Fault::kUsage, name, fmt::format("contradicts `numerics` {}", n.name), "give one of the two"};
  if (!n.name.starts_with("bf16")) n.name = "bf16";
  const bool nearest = given.contains("stochastic_rounding_enabled") && !n.stochastic_rounding_enabled;
  if (!nearest && !n.name.ends_with("+sr")) n.name += "+sr";
  given.insert("numerics");
}

/// With fp32 weights the compiler casts the operands that `auto_cast` names.
void apply_auto_cast(NumericsSettings& n) {
  const bool stochastic = n.name == "fp32+sr";
  if ((n.name != "fp32" && !stochastic) || n.auto_cast == "none") return;
  if (n.auto_cast_type == "tf32")  // has fp32's range and width in memory: only operands can be cast
    n.name = "tf32";
  else
    n.name = fmt::format("fp32+{}-{}", n.auto_cast_type, n.auto_cast == "all" ? "all" : "matmul");
  if (stochastic) n.name += "+sr";
}

}  // namespace

void resolve_numerics(Settings& settings) {
  NumericsSettings& n = settings.numerics;
  apply_downcast(n, settings.given);
  if (n.bf16) {
    if (!n.name.empty() && !n.name.starts_with("bf16"))
      throw Error{Fault::kUsage, "`bf16`", fmt::format("contradicts `numerics` {}", n.name), "give one of the two"};
    if (n.name.empty()) n.name = "bf16";
    settings.given.insert("numerics");
  }
  // The switch is about casts to 16 bits, so it leaves fp32 unchanged, as on the machine.
  if (n.stochastic_rounding_enabled && (n.name == "bf16" || n.name == "fp16")) n.name += "+sr";
  const bool switched_off = settings.given.contains("stochastic_rounding_enabled") && !n.stochastic_rounding_enabled;
  if (switched_off && !settings.given.contains("numerics") && n.name.ends_with("+sr")) n.name.resize(n.name.size() - 3);
  apply_auto_cast(n);
}

}  // namespace trnsim
