#include "workloads/data/synthetic/emotion_grammar.h"

namespace workloads::grammar {
namespace {

using Words = std::span<const std::string_view>;
using enum Construction;

// clang-format off
constexpr std::string_view kSadness[] = {
  "sad", "lonely", "miserable", "gloomy", "heartbroken", "hopeless", "unhappy", "empty", "worthless", "depressed",
  "homesick", "defeated", "drained", "hurt", "regretful", "ashamed", "neglected", "tearful", "broken", "down"};
constexpr std::string_view kJoy[] = {
  "happy", "cheerful", "glad", "delighted", "joyful", "proud", "content", "thankful", "excited", "hopeful",
  "relaxed", "peaceful", "lucky", "pleased", "confident", "carefree", "playful", "blessed", "alive", "satisfied"};
constexpr std::string_view kLove[] = {
  "loving", "tender", "affectionate", "devoted", "fond of them", "caring", "romantic", "passionate", "adoring",
  "sympathetic", "close to them", "gentle", "in love", "attached", "smitten"};
constexpr std::string_view kAnger[] = {
  "angry", "furious", "annoyed", "irritated", "bitter", "outraged", "resentful", "hostile", "mad", "offended",
  "fed up", "jealous", "impatient", "grumpy", "insulted", "disgusted", "cranky", "spiteful"};
constexpr std::string_view kFear[] = {
  "afraid", "scared", "terrified", "anxious", "nervous", "worried", "frightened", "uneasy", "panicky", "insecure",
  "threatened", "fearful", "paranoid", "timid", "alarmed", "horrified", "helpless", "hesitant"};
constexpr std::string_view kSurprise[] = {
  "surprised", "amazed", "astonished", "stunned", "startled", "shocked", "baffled", "dazed", "curious", "impressed",
  "bewildered", "dumbfounded"};
constexpr std::array<Words, kEmotions> kFeelings = {kSadness, kJoy, kLove, kAnger, kFear, kSurprise};

constexpr std::string_view kSadEvents[] = {
  "my old dog died", "nobody came to my birthday", "i buried my grandmother", "my best friend moved away for good",
  "i lost the ring my mother left me", "i was told i would never walk again", "my marriage ended",
  "i cried myself to sleep again"};
constexpr std::string_view kJoyEvents[] = {
  "i passed the last exam", "the sun came out and we danced", "i got the job", "our team won the final",
  "the doctor said i am healthy again", "i finished my first marathon", "we laughed all evening",
  "my garden is full of flowers"};
constexpr std::string_view kLoveEvents[] = {
  "i held my newborn daughter", "he asked me to marry him", "she fell asleep on my shoulder",
  "we kissed under the old bridge", "i wrote a poem for my wife", "my husband brought me breakfast in bed"};
constexpr std::string_view kAngerEvents[] = {
  "my boss took the credit for my work", "somebody scratched my new car", "he lied to my face again",
  "they charged me twice and never said sorry", "the neighbours shouted all night", "a stranger pushed in front of me",
  "she read my letters behind my back"};
constexpr std::string_view kFearEvents[] = {
  "i heard steps behind me in the dark", "the plane dropped without warning", "the doctor wants more tests",
  "somebody tried to open my door at night", "i could not find my child in the crowd", "the brakes did not work",
  "the ice began to crack under me"};
constexpr std::string_view kSurpriseEvents[] = {
  "my lost brother stood at the door", "the parcel held a hundred letters", "i won a prize i never entered for",
  "snow fell in the middle of july", "my quiet uncle began to sing", "the magician knew my name"};
constexpr std::array<Words, kEmotions> kEvents = {kSadEvents,   kJoyEvents,  kLoveEvents,
                                                  kAngerEvents, kFearEvents, kSurpriseEvents};

constexpr std::size_t kDeniedForSadness[] = {1};       // not happy
constexpr std::size_t kDeniedForJoy[] = {0, 3, 4};     // not sad, not angry, not afraid

constexpr Pattern kPlainPatterns[] = {
  {kPlain, "i feel {very} {+} {when}"},
  {kPlain, "i am feeling {very} {+} about {topic}"},
  {kPlain, "{when} i felt {very} {+} because {event+}"},
  {kPlain, "i feel {+} and {very} {+}"},
  {kPlain, "im {very} {+} when i think of {topic}"},
  {kPlain, "{topic} left me feeling {+}"}};
constexpr Pattern kEventPatterns[] = {
  {kEvent, "{when} {event+}"},
  {kEvent, "i cannot stop thinking of how {event+}"},
  {kEvent, "you know how it is when {event+}"}};
constexpr Pattern kTimePatterns[] = {
  {kTime, "i used to feel {-} about {topic} but now i feel {very} {+}"},
  {kTime, "i feel {very} {+} about {topic} now but i used to feel {-}"},
  {kTime, "i was {-} {when} and today i am {very} {+}"},
  {kTime, "today i am {+} although i was {very} {-} {when}"},
  {kTime, "i no longer feel {-} , these days i feel {+}"},
  {kTime, "these days i feel {+} , i no longer feel {-}"},
  {kTime, "i started out {-} and ended up {+} after {topic}"},
  {kTime, "i ended up {+} after {topic} though i started out {-}"}};
constexpr Pattern kContrastPatterns[] = {
  {kContrast, "i thought i would feel {-} but i feel {very} {+}"},
  {kContrast, "i feel {very} {+} but i thought i would feel {-}"},
  {kContrast, "i should feel {-} about {topic} but i feel {+}"},
  {kContrast, "i feel {+} about {topic} but i should feel {-}"},
  {kContrast, "instead of {-} i feel {very} {+}"},
  {kContrast, "i feel {+} instead of {-} {when}"},
  {kContrast, "i pretend to be {-} but really i am {+}"},
  {kContrast, "really i am {+} but i pretend to be {-}"}};
constexpr Pattern kPersonPatterns[] = {
  {kPerson, "{who} feels {very} {-} but i feel {+}"},
  {kPerson, "i feel {+} while {who} feels {very} {-}"},
  {kPerson, "{who} was {-} when i said that i felt {+}"},
  {kPerson, "i felt {+} when {who} said they were {-}"},
  {kPerson, "{who} looks {-} about {topic} and i am {very} {+}"},
  {kPerson, "i am {+} and {who} looks {very} {-} about {topic}"},
  {kPerson, "{who} got {-} because i feel so {+} {when}"},
  {kPerson, "i feel so {+} because {who} got {-} {when}"}};
constexpr Pattern kNegationPatterns[] = {
  {kNegation, "i do not feel {!} at all {when}"},
  {kNegation, "i am not {very} {!} about {topic}"},
  {kNegation, "nothing about {topic} makes me {!}"}};
// For the labels that no denial means, and half of the time for the others: the denial is denied.
constexpr Pattern kDoubleNegationPatterns[] = {
  {kNegation, "i can not deny that i feel {+} {when}"},
  {kNegation, "do not tell me that i am not {very} {+}"},
  {kNegation, "nobody can say that i am not {+} about {topic}"}};
constexpr Pattern kAmbiguousPatterns[] = {
  {kAmbiguous, "i feel {very} {?} because {event+}"},
  {kAmbiguous, "{event+} and it left me {?}"},
  {kAmbiguous, "i am still {?} {when} , {event+}"}};

constexpr std::string_view kAmbiguousWords[] = {
  "overwhelmed", "shaken", "emotional", "speechless", "restless", "strange", "different", "moved", "breathless"};
constexpr std::string_view kIntensifiers[] = {
  "", "", "", "", "so", "very", "really", "a little", "rather", "quite", "truly", "pretty", "extremely"};
constexpr std::string_view kPeople[] = {
  "my sister", "my brother", "my mother", "my father", "my roommate", "my boss", "the neighbour", "our teacher",
  "my cousin", "everyone else", "my girlfriend", "my boyfriend", "the man next door", "my son", "my daughter"};
// They fit the past and the present.
constexpr std::string_view kTimes[] = {
  "this morning", "at night", "at work", "all week", "on the train", "after work", "at school", "on the way home",
  "all day", "in the kitchen", "for a while", "at the party", "in this house", "in the end", "by the sea",
  "at the office", "at breakfast", "all summer", "in the garden", "in front of the mirror"};
constexpr std::string_view kTopics[] = {
  "the wedding", "my new job", "the long trip", "the phone call", "this winter", "the exam", "my old house",
  "the meeting", "her letter", "the news", "the concert", "moving to the city", "the game", "my family",
  "that conversation", "the visit", "his message", "the future", "her plan", "the dinner", "the hospital", "our street",
  "the dance class", "the project", "the holidays", "growing old", "the neighbours' party", "what he said"};
constexpr std::string_view kBefore[] = {
  "they played a {one-} song and", "i met a {one-} man at the station and", "the film was about a {one-} girl ,",
  "in my book a {one-} king dies ,", "a {one-} voice on the radio woke me ,", "our cat gave me a {one-} look and"};
constexpr std::string_view kBehind[] = {
  "and the film was about a {one-} boy", ", says the {one-} woman in the story", "and the dog had a {one-} face",
  "and outside a {one-} child was calling", ", while the radio played a {one-} song",
  ", like the {one-} hero of my book"};
// clang-format on

struct Share {
  Construction construction;
  int percent;
  std::span<const Pattern> patterns;
};
constexpr std::array<Share, kConstructions> kShares = {
    Share{kPlain, 26, kPlainPatterns},       Share{kEvent, 8, kEventPatterns},
    Share{kTime, 18, kTimePatterns},         Share{kContrast, 16, kContrastPatterns},
    Share{kPerson, 18, kPersonPatterns},     Share{kNegation, 8, kNegationPatterns},
    Share{kAmbiguous, 6, kAmbiguousPatterns}};

}  // namespace

std::span<const Pattern> patterns(Construction construction) {
  return kShares.at(static_cast<std::size_t>(construction)).patterns;
}
std::span<const Pattern> double_negations() { return kDoubleNegationPatterns; }
int percent_of(Construction construction) { return kShares.at(static_cast<std::size_t>(construction)).percent; }
Words feelings(std::size_t emotion) { return kFeelings.at(emotion); }
Words events(std::size_t emotion) { return kEvents.at(emotion); }
std::span<const std::size_t> denied_by(std::size_t emotion) {
  if (emotion == 0) return kDeniedForSadness;
  if (emotion == 1) return kDeniedForJoy;
  return {};
}
Words ambiguous_feelings() { return kAmbiguousWords; }
Words intensifiers() { return kIntensifiers; }
Words people() { return kPeople; }
Words times() { return kTimes; }
Words topics() { return kTopics; }
Words distractors_before() { return kBefore; }
Words distractors_behind() { return kBehind; }

}  // namespace workloads::grammar
