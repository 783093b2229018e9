#include "workloads/training/zero_io.h"

#include <span>

#include "runtime/ops/optimizer_inputs.h"

namespace workloads {

void write_bucket(runtime::Session& session, const Step& step, const ZeroBucket& bucket, const BucketPlace& place,
                  const std::function<std::vector<float>(const std::string&)>& part_of) {
  std::vector<float> all;
  for (const std::string& name : bucket.weights) {
    const std::vector<float> part = part_of(name);
    all.insert(all.end(), part.begin(), part.end());
    all.resize(runtime::aligned(all.size()));
  }
  const auto rank = [&](std::uint32_t d) { return step.plan.rank_of(d, place.tensor, place.stage); };
  const auto size = static_cast<std::size_t>(session.region(rank(0), place.region).shape.at(1));
  all.resize(size * step.plan.data);
  for (std::uint32_t d = 0; d < step.plan.data; ++d)
    session.write(rank(d), place.region, std::span<const float>{all}.subspan(d * size, size));
}

std::vector<float> read_bucket(runtime::Session& session, const Step& step, const BucketPlace& place) {
  std::vector<float> all;
  for (std::uint32_t d = 0; d < step.plan.data; ++d) {
    const std::vector<float> part = session.read(step.plan.rank_of(d, place.tensor, place.stage), place.region);
    all.insert(all.end(), part.begin(), part.end());
  }
  return all;
}

}  // namespace workloads
