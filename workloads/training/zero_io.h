// How ranks that share an optimizer's state hold a bucket of it.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "runtime/step/session.h"
#include "workloads/step/step.h"
#include "workloads/step/step_graph.h"

namespace workloads {

/// Whose bucket, and under which name the ranks hold it.
struct BucketPlace {
  std::string region;
  std::int64_t tensor = 0, stage = 0;
};

/// Gives each data-parallel rank its part of the bucket. `part_of`: the values of a weight of it on this place, in the
/// order of the device.
void write_bucket(runtime::Session& session, const Step& step, const ZeroBucket& bucket, const BucketPlace& place,
                  const std::function<std::vector<float>(const std::string&)>& part_of);

/// The bucket put together from the parts, in its weights' order, each at a multiple of isa::kHbmAlign numbers.
std::vector<float> read_bucket(runtime::Session& session, const Step& step, const BucketPlace& place);

}  // namespace workloads
