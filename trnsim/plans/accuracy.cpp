#include "trnsim/plans/accuracy.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <sstream>

#include "base/bundled_file.h"
#include "base/param_file.h"
#include "base/text.h"
#include "workloads/models/model.h"

namespace trnsim {

namespace {

/// The numbers by which two jobs are alike.
struct Size {
  double layers = 0, hidden = 0, cores = 0, length = 0, micro_batch = 0, micro_batches = 0;
  double chip = 2;  // generation of its NeuronCores
  bool operator==(const Size&) const = default;

  bool is_like(const Size& other) const {
    constexpr double kLike = 4;  // times as large, or as small
    const auto near = [](double a, double b) { return a <= kLike * b && b <= kLike * a; };
    return chip == other.chip && near(layers * hidden * hidden, other.layers * other.hidden * other.hidden) &&
           near(cores, other.cores) && near(length, other.length);
  }
};

Size size_of(const Job& job) {
  const workloads::Sizes& sizes = job.model->sizes();
  const workloads::Plan& plan = job.step.plan;
  const auto real = [](auto n) { return static_cast<double>(n); };
  return {real(sizes.layers),          real(sizes.hidden),
          real(job.cores()),           real(job.generation ? job.generation->length : job.step.kind.length),
          real(plan.micro_batch),      job.generation ? 1 : real(plan.micro_batches),
          job.machine.generation.value};
}

std::string regime_of(const Job& job) {
  if (job.generation) return "generation, each token";
  if (!job.step.kind.training) return "encoder inference";
  if (job.instances() > 1) return "training, several nodes";
  return job.cores() > 2 ? "training, one node" : "training, one chip";
}

std::string key_of(std::string regime) {
  std::erase(regime, ',');
  std::ranges::replace(regime, ' ', '_');
  return regime;
}

/// "a_or_b", a key of jobs of one size, as "a or b".
std::string rows_of(std::string key) {
  for (std::size_t at = 0; (at = key.find("_or_", at)) != std::string::npos;) key.replace(at, 4, " or ");
  return key;
}

}  // namespace

Likely likely(const Job& job) {
  base::ParamFile file = base::bundled_file("trnsim/plans/accuracy.toml");
  Likely out{.regime = regime_of(job), .published = ""};
  const std::string key = key_of(out.regime);
  out.error = file.read(key + ".error", base::Dimension::kRatio).value;
  out.rows = static_cast<int>(file.read_count(key + ".rows").value);
  out.inside = static_cast<int>(file.read_count(key + ".inside").value);
  const Size own = size_of(job);
  for (const std::string& name : file.keys("job")) {
    std::istringstream text{file.read_string(name).value};
    base::throw_when_bad(text);
    std::string regime;
    Size row;
    text >> regime >> row.layers >> row.hidden >> row.cores >> row.length >> row.micro_batch >> row.micro_batches;
    if (double chip = 0; text >> chip) row.chip = chip;
    if (regime != key) continue;
    out.like |= own.is_like(row);
    if (own == row && out.published.empty()) out.published = rows_of(name.substr(name.find('.') + 1));
  }
  if (!out.like) out.error *= 2;
  return out;
}

}  // namespace trnsim
