#include "hw/replica_groups.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "base/error.h"
#include "base/text.h"

namespace hw {
namespace {

[[noreturn]] void refuse(std::string_view where, const Ranks& set, const MachineParams& machine, std::string_view why) {
  constexpr std::size_t kShown = 8;
  const auto shown = std::min(set.size(), kShown);
  Ranks sizes;
  for (std::uint32_t n = 1; n <= static_cast<std::uint32_t>(machine.instance_cores()); ++n)
    if (machine.forms_groups_of(n)) sizes.push_back(n);
  std::string fix = fmt::format("use groups of {} cores of an instance, equally far apart", fmt::join(sizes, ", "));
  if (machine.instances.value > 1) fix += ", and the same cores of instances equally far apart";
  const base::Fault fault = where.starts_with('`') ? base::Fault::kUsage : base::Fault::kProgram;  // `a_setting`
  throw base::Error{fault, where,
                    fmt::format("{} cannot form the replica group {}{} of {}: {}", machine.name,
                                fmt::join(set.begin(), set.begin() + static_cast<std::ptrdiff_t>(shown), " "),
                                shown < set.size() ? " ..." : "", base::counted(set.size(), "rank"), why),
                    fix};
}

bool equally_far_apart(const Ranks& rising) {
  for (std::size_t i = 2; i < rising.size(); ++i) {
    if (rising[i] - rising[i - 1] != rising[1] - rising[0]) return false;
  }
  return true;
}

void require_cores(const Ranks& set, const MachineParams& machine, std::string_view where) {
  if (set.empty()) refuse(where, set, machine, "it is empty");
  const auto highest = std::ranges::max(set);
  if (highest >= static_cast<std::uint32_t>(machine.core_count()))
    refuse(where, set, machine, fmt::format("there is no core {} among its {}", highest, machine.core_count()));
}

GroupShape shape_of(const Ranks& set, const MachineParams& machine, std::string_view where) {
  require_cores(set, machine, where);
  const auto parts = by_instance(set, machine);
  const Ranks& cores = parts.front().cores;
  Ranks instances;
  for (const LocalRanks& part : parts) {
    if (part.cores != cores && set.size() > 2)
      refuse(where, set, machine, "it takes different cores in different instances");
    instances.push_back(part.instance);
  }
  if (!machine.forms_groups_of(static_cast<std::uint32_t>(cores.size())))
    refuse(where, set, machine, fmt::format("it takes {} cores of an instance", cores.size()));
  if (!equally_far_apart(cores)) refuse(where, set, machine, "its cores are not equally far apart");
  if (!equally_far_apart(instances)) refuse(where, set, machine, "its instances are not equally far apart");
  return {static_cast<std::uint32_t>(cores.size()), static_cast<std::uint32_t>(parts.size())};
}

}  // namespace

std::vector<LocalRanks> by_instance(const Ranks& set, const MachineParams& machine) {
  const auto per_instance = static_cast<std::uint32_t>(machine.ranks_per_instance());
  Ranks rising = set;
  std::ranges::sort(rising);
  std::vector<LocalRanks> parts;
  for (const std::uint32_t rank : rising) {
    if (parts.empty() || parts.back().instance != rank / per_instance) parts.push_back({rank / per_instance, {}});
    parts.back().cores.push_back(rank % per_instance);
  }
  return parts;
}

GroupShape shape_of(const ReplicaGroups& table, const MachineParams& machine, std::string_view where) {
  base::ensure(!table.empty(), where, "a replica group without sets");
  const GroupShape first = shape_of(table.front(), machine, where);
  for (const Ranks& set : table) {
    const GroupShape shape = shape_of(set, machine, where);
    if (shape.local != first.local || shape.instances != first.instances)
      refuse(where, set, machine,
             fmt::format("it is {} cores of each of {} instances, but the first set of its table {} of {}", shape.local,
                         shape.instances, first.local, first.instances));
  }
  return first;
}

void require_pairs(const ReplicaGroups& table, const MachineParams& machine, std::string_view where) {
  for (const Ranks& set : table) {
    require_cores(set, machine, where);
    if (set.size() != 2)
      throw base::Error{base::Fault::kProgram, where,
                        fmt::format("its replica group has {}", base::counted(set.size(), "rank")),
                        "use a replica group of pairs"};
  }
}

}  // namespace hw
