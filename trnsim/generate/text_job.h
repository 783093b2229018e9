// Text that a model with weights writes, apart from its time.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "trnsim/generation.h"

namespace trnsim {

class TextJob {
 public:
  /// As generate() is given them. Errors: as generate(), before anything is computed.
  TextJob(const std::string& model, const Settings& given);
  ~TextJob();

  /// With the sequences and the longest prompt that there are.
  const Settings& settings() const;
  Job job() const;
  bool has_weights() const;
  /// On simulated cores. `job`: as job() says. Errors: Fault::kNumerics for logits that are no numbers.
  std::vector<GeneratedText> write(const Job& job, const GenerateObserver& observer) const;

 private:
  struct Parts;
  std::unique_ptr<Parts> parts_;
};

}  // namespace trnsim
