// How good a model is at its task: figures of an evaluation.
#pragma once

#include <memory>
#include <span>

#include "workloads/data/batch.h"
#include "workloads/models/model.h"
#include "workloads/tasks/metrics.h"

namespace workloads {

class Scores {
 public:
  virtual ~Scores() = default;
  /// Whether add() reads logits; a model that predicts tokens need not keep them.
  virtual bool reads_logits() const = 0;
  /// Errors: Fault::kNumerics when a logit is NaN.
  virtual void add(const Batch& batch, std::span<const float> logits) = 0;
  /// `loss`: the mean over all labels.
  virtual Metrics metrics(double loss) const = 0;
};

/// accuracy, f1_macro, f1_weighted; of tags of entities also precision, recall and f1.
std::unique_ptr<Scores> label_scores(const Model& model);
/// perplexity.
std::unique_ptr<Scores> token_scores(const Model& model);

}  // namespace workloads
