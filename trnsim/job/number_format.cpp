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
  n.name = cast_of(n) + (stochastic ? "+sr" : "");
}

}  // namespace

std::string cast_of(const NumericsSettings& n) {
  if (n.auto_cast == "none") return "fp32";
  if (n.auto_cast_type == "tf32") return "tf32";  // of fp32's range and width in memory: only operands can be cast
  return fmt::format("fp32+{}-{}", n.auto_cast_type, n.auto_cast == "all" ? "all" : "matmul");
}

void resolve_numerics(Settings& settings) {
  NumericsSettings& n = settings.numerics;
  apply_downcast(n, settings.given);
  if (n.bf16) {
    if (!n.name.empty() && !n.name.starts_with("bf16"))
      throw Error{Fault::kUsage, "`bf16`", fmt::format("contradicts `numerics` {}", n.name), "give one of the two"};
    if (n.name.empty()) n.name = "bf16";
    settings.given.insert("numerics");
  } else if (settings.given.contains("bf16") && !settings.given.contains("numerics")) {
    n.name = "fp32";  // a trainer that is told not to use bf16 keeps fp32, of which the compiler casts operands
    settings.given.insert("numerics");
  }
  // The switch is about casts to 16 bits, so it leaves fp32 unchanged, as on the machine.
  if (n.stochastic_rounding_enabled && (n.name == "bf16" || n.name == "fp16")) n.name += "+sr";
  const bool switched_off = settings.given.contains("stochastic_rounding_enabled") && !n.stochastic_rounding_enabled;
  if (switched_off && !settings.given.contains("numerics") && n.name.ends_with("+sr")) n.name.resize(n.name.size() - 3);
  apply_auto_cast(n);
}

void require_cast(const Settings& s, std::string_view numerics) {
  const NumericsSettings& asked = s.numerics;
  const NumericsSettings none;
  const bool type = s.given.contains("auto_cast_type") && asked.auto_cast_type != none.auto_cast_type;
  const bool cast_named = s.given.contains("auto_cast") && asked.auto_cast != none.auto_cast;
  if (!type && !cast_named) return;
  const std::string cast = cast_of(asked);
  if (numerics == cast || numerics == cast + "+sr") return;
  const bool other = numerics.starts_with("fp32");
  throw Error{Fault::kUsage, type ? "`auto_cast_type`" : "`auto_cast`",
              other ? fmt::format("contradicts `numerics` {}, which already names a cast", numerics)
                    : fmt::format("has no effect on {}: the compiler casts only fp32", numerics),
              "give `numerics` fp32 with it, or leave it out"};
}

}  // namespace trnsim
