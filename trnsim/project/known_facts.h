// Facts about models and software that a search needs of hundreds of jobs, each looked up once.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "analysis/host/stack.h"
#include "trnsim/job.h"

namespace trnsim {

/// Numbers of a stage on one tensor-parallel rank.
struct Parameters {
  double all = 0, trained = 0;
};

/// Answers are those of a single look-up. A model is known by its object: jobs that are derived from one share it.
class KnownFacts {
 public:
  /// Errors: as Job::load_stack().
  std::shared_ptr<const analysis::Stack> stack(const Job& job);
  /// The model with so many layers.
  const workloads::ModelPtr& with_layers(const workloads::ModelPtr& model, std::int64_t layers);
  /// The trained ones of all parameters.
  double trained(const workloads::ModelPtr& model);
  /// One for each stage. Errors: as workloads::check() for a plan that does not divide the model.
  const std::vector<Parameters>& parameters(const Job& job);

 private:
  std::map<std::string, std::shared_ptr<const analysis::Stack>> stacks_;
  std::map<std::pair<workloads::ModelPtr, std::int64_t>, workloads::ModelPtr> models_;
  std::map<workloads::ModelPtr, double> trained_;
  std::map<std::tuple<workloads::ModelPtr, std::int64_t, std::int64_t, std::int64_t>, std::vector<Parameters>>
      parameters_;
};

}  // namespace trnsim
