// The embedded data set: made-up English sentences labelled with the six emotions of dair-ai/emotion. It is synthetic,
// and every report that uses it has to say so. Words alone do not decide a label: most sentences name two feelings, and
// the structure tells which one is the writer's, now, in earnest.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>

#include "workloads/data/dataset.h"
#include "workloads/data/synthetic/emotion_grammar.h"
#include "workloads/text/wordpiece.h"

namespace workloads {

enum class SyntheticSplit : std::uint8_t { kTrain, kValidation, kTest };

struct SyntheticSample {
  std::string text;
  std::int32_t meant = 0;    // the meaning of the sentence
  std::int32_t written = 0;  // the label in the data set: `meant`, or another one in kMislabelled of the samples
  grammar::Construction construction = grammar::Construction::kPlain;
};

/// The share of samples whose label is wrong, as annotators' are: no model can get these right.
inline constexpr double kMislabelled = 0.04;
inline constexpr std::string_view kSyntheticName = "synthetic emotion sentences (embedded)";

/// Sample `index` of a split depends on seed, split and index alone, not on how many are made.
SyntheticSample synthetic_sample(std::uint64_t seed, SyntheticSplit split, std::uint64_t index);

Dataset synthetic_dataset(SyntheticSplit split, std::size_t count, std::uint64_t seed = 42);
/// As many samples as dair-ai/emotion has, by default.
Splits synthetic_splits(std::size_t train = 16000, std::size_t validation = 2000, std::size_t test = 2000,
                        std::uint64_t seed = 42);

/// A WordPiece tokenizer trained on `dataset` (see wordpiece_trainer.h).
std::unique_ptr<WordPiece> train_tokenizer(const Dataset& dataset, std::size_t vocabulary_size = 1024);

}  // namespace workloads
