#include "workloads/tasks/scores.h"

#include <cmath>

namespace workloads {
namespace {

class LabelScores final : public Scores {
 public:
  explicit LabelScores(const Model& model)
      : labels_{model.label_names().size()}, entities_{model.label_names()}, tags_{model.head() == Head::kTokens} {}

  bool reads_logits() const override { return true; }
  void add(const Batch& batch, std::span<const float> logits) override {
    const std::vector<std::int32_t> predicted = predictions(logits, batch.labels, labels_.labels());
    for (std::size_t i = 0; i < predicted.size(); ++i) labels_.add(batch.labels[i], predicted[i]);
    if (tags_) entities_.add(batch.labels, predicted, batch.length);
  }
  Metrics metrics(double) const override {
    Metrics out{
        {"accuracy", labels_.accuracy()}, {"f1_macro", labels_.macro_f1()}, {"f1_weighted", labels_.weighted_f1()}};
    if (tags_ && entities_.tagged())
      out.insert(out.end(),
                 {{"precision", entities_.precision()}, {"recall", entities_.recall()}, {"f1", entities_.f1()}});
    return out;
  }

 private:
  Confusion labels_;
  EntityCounts entities_;
  const bool tags_;
};

class TokenScores final : public Scores {
 public:
  bool reads_logits() const override { return false; }
  void add(const Batch&, std::span<const float>) override {}
  Metrics metrics(double loss) const override { return {{"perplexity", std::exp(loss)}}; }
};

}  // namespace

std::unique_ptr<Scores> label_scores(const Model& model) { return std::make_unique<LabelScores>(model); }
std::unique_ptr<Scores> token_scores(const Model&) { return std::make_unique<TokenScores>(); }

}  // namespace workloads
