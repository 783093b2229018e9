// The words and sentence patterns of the synthetic emotion data set. Only tables; emotion_synthetic.cpp fills them in.
#pragma once

#include <array>
#include <cstddef>
#include <span>
#include <string_view>

namespace workloads::grammar {

inline constexpr std::size_t kEmotions = 6;  // in the order of emotion_label_names()

/// Samples of each label in 16,000, as in the training split of dair-ai/emotion.
inline constexpr std::array<int, kEmotions> kPerSixteenThousand = {4666, 5362, 1304, 2159, 1937, 572};

/// The construction that decides the label of a sentence.
enum class Construction {
  kPlain,      // one feeling, said outright
  kEvent,      // something happens, and no feeling is named
  kTime,       // two feelings: the one that holds now counts
  kContrast,   // two feelings: the real one counts, not the expected or denied one
  kPerson,     // two feelings: the writer's counts, not another person's
  kNegation,   // a denied joy is sadness, a denied sadness, anger or fear is joy; a denied denial changes nothing
  kAmbiguous,  // a word that fits several feelings: the reason decides
};
inline constexpr std::size_t kConstructions = 7;

/// Slots: {+} a word for the label's feeling, {-} for another feeling, {!} for one whose denial means the label,
/// {one-} the same as {-} in one word, {?} a word for several feelings, {event+} an event that causes
/// the label's feeling, and the neutral {very} {who} {when} {topic}.
struct Pattern {
  Construction construction;
  std::string_view text;
};

std::span<const Pattern> patterns(Construction construction);
/// Those of kNegation in which the denial is denied: they hold for every label.
std::span<const Pattern> double_negations();
/// The percentage of sentences with this construction.
int percent_of(Construction construction);

std::span<const std::string_view> feelings(std::size_t emotion);
std::span<const std::string_view> events(std::size_t emotion);
/// The emotions whose denial means `emotion`; empty for most.
std::span<const std::size_t> denied_by(std::size_t emotion);

std::span<const std::string_view> ambiguous_feelings();
std::span<const std::string_view> intensifiers();
std::span<const std::string_view> people();
std::span<const std::string_view> times();
std::span<const std::string_view> topics();
/// Clauses that name a feeling of no person in the sentence ({one-}), to be put before or after it.
std::span<const std::string_view> distractors_before();
std::span<const std::string_view> distractors_behind();

}  // namespace workloads::grammar
