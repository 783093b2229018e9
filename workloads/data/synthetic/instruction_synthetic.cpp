#include "workloads/data/synthetic/instruction_synthetic.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <vector>

#include "workloads/data/random.h"

namespace workloads {
namespace {

using Words = std::span<const std::string_view>;

constexpr std::array<std::string_view, 10> kFirstNames = {"Ann", "Ben", "Eva", "Jan", "Kim",
                                                          "Lea", "Max", "Sam", "Tom", "Zoe"};
constexpr std::array<std::string_view, 10> kThings = {"ball", "book", "coat", "cup", "drum",
                                                      "key",  "lamp", "map",  "pen", "ring"};
constexpr std::array<std::string_view, 8> kRooms = {"attic", "cellar",  "garage", "garden",
                                                    "hall",  "kitchen", "office", "shed"};
constexpr std::array<std::string_view, 8> kAnimals = {"cow", "dog", "duck", "goat", "horse", "mouse", "pig", "sheep"};
constexpr std::array<std::string_view, 8> kPlants = {"beech", "daisy", "fern", "lily", "moss", "pine", "rose", "tulip"};
constexpr std::array<std::string_view, 8> kColours = {"black", "blue", "brown", "green",
                                                      "grey",  "red",  "white", "yellow"};

struct WordPair {
  std::string_view one, other;
};
constexpr std::array<WordPair, 10> kOpposites = {{{"hot", "cold"},
                                                  {"old", "new"},
                                                  {"big", "small"},
                                                  {"day", "night"},
                                                  {"open", "closed"},
                                                  {"full", "empty"},
                                                  {"fast", "slow"},
                                                  {"early", "late"},
                                                  {"near", "far"},
                                                  {"wet", "dry"}}};
constexpr std::array<WordPair, 8> kVerbs = {{{"walks", "walked"},
                                             {"looks", "looked"},
                                             {"runs", "ran"},
                                             {"sings", "sang"},
                                             {"plays", "played"},
                                             {"waits", "waited"},
                                             {"works", "worked"},
                                             {"sits", "sat"}}};

class InstructionWriter {
 public:
  explicit InstructionWriter(Random& random) : random_{random} {}

  Instruction write() {
    switch (random_.below(8)) {
      case 0: return sum();
      case 1: return larger();
      case 2: return owner();
      case 3: return place();
      case 4: return opposite();
      case 5: return species();
      case 6: return sorted();
      default: return past();
    }
  }

 private:
  template <typename T>
  const T& pick(std::span<const T> items) {
    return random_.pick(items);
  }
  std::string_view one_of(std::initializer_list<std::string_view> phrases) {
    return pick<std::string_view>({phrases.begin(), phrases.size()});
  }
  /// Two different words.
  std::array<std::string_view, 2> two(Words words) {
    const std::string_view first = pick(words);
    for (;;)
      if (const std::string_view second = pick(words); second != first) return {first, second};
  }
  std::string filled(std::string_view pattern, std::string_view a, std::string_view b = {}) const {
    return fmt::format(fmt::runtime(pattern), a, b);
  }

  Instruction sum() {
    const std::uint32_t a = random_.below(10), b = random_.below(10);
    const std::string left = fmt::format("{}", a), right = fmt::format("{}", b);
    return {filled(one_of({"What is {} plus {}?", "Add {} and {}.", "How much is {} and {} together?"}), left, right),
            "", fmt::format("{} plus {} is {}.", a, b, a + b)};
  }

  Instruction larger() {
    const std::uint32_t a = random_.below(50), b = a + 1 + random_.below(49);
    const bool swap = random_.chance(0.5);
    const std::string left = fmt::format("{}", swap ? b : a), right = fmt::format("{}", swap ? a : b);
    return {filled(one_of({"Which number is larger, {} or {}?", "Name the larger one of {} and {}."}), left, right), "",
            fmt::format("{} is larger than {}.", b, a)};
  }

  Instruction owner() {
    const auto [first, second] = two(kFirstNames);
    const auto [mine, yours] = two(kThings);
    const bool ask_first = random_.chance(0.5);
    const std::string_view asked = ask_first ? mine : yours;
    return {filled(one_of({"Who has the {}?", "Whose is the {}?", "Tell me who has the {}."}), asked),
            fmt::format("{} has the {}. {} has the {}.", first, mine, second, yours),
            fmt::format("{} has the {}.", ask_first ? first : second, asked)};
  }

  Instruction place() {
    const auto [thing, other] = two(kThings);
    const auto [here, there] = two(kRooms);
    const bool ask_first = random_.chance(0.5);
    const std::string_view asked = ask_first ? thing : other;
    return {filled(one_of({"Where is the {}?", "In which room is the {}?", "Find the {}."}), asked),
            fmt::format("The {} is in the {}. The {} is in the {}.", thing, here, other, there),
            fmt::format("The {} is in the {}.", asked, ask_first ? here : there)};
  }

  Instruction opposite() {
    const WordPair& pair = pick<WordPair>(kOpposites);
    const bool swap = random_.chance(0.5);
    const std::string_view word = swap ? pair.other : pair.one;
    return {filled(one_of({"What is the opposite of {}?", "Name the opposite of {}."}), word), "",
            fmt::format("The opposite of {} is {}.", word, swap ? pair.one : pair.other)};
  }

  Instruction species() {
    const bool animal = random_.chance(0.5);
    const std::string_view word = pick<std::string_view>(animal ? Words{kAnimals} : Words{kPlants});
    return {filled(one_of({"Is a {} an animal or a plant?", "Animal or plant: what is a {}?"}), word), "",
            fmt::format("A {} is {}.", word, animal ? "an animal" : "a plant")};
  }

  Instruction sorted() {
    const Words lists[] = {kAnimals, kColours, kThings};
    const Words list = lists[random_.below(3)];
    std::vector<std::string_view> words;
    while (words.size() < 3)
      if (const std::string_view word = pick(list); std::ranges::find(words, word) == words.end())
        words.push_back(word);
    std::string given = fmt::format("{}", fmt::join(words, ", "));
    std::ranges::sort(words);
    return {std::string{one_of({"Sort these words by the alphabet.", "Put the words in alphabetical order."})},
            std::move(given), fmt::format("{}", fmt::join(words, ", "))};
  }

  Instruction past() {
    const WordPair& verb = pick<WordPair>(kVerbs);
    const std::string_view name = pick<std::string_view>(kFirstNames), room = pick<std::string_view>(kRooms);
    return {std::string{one_of({"Write the sentence in the past.", "Say that it was yesterday."})},
            fmt::format("{} {} in the {}.", name, verb.one, room),
            fmt::format("{} {} in the {}.", name, verb.other, room)};
  }

  Random& random_;
};

}  // namespace

Instruction synthetic_instruction(std::uint64_t seed, SyntheticSplit split, std::uint64_t index) {
  Random random{seed, (static_cast<std::uint64_t>(split) + 101) << 40 | index};
  return InstructionWriter{random}.write();
}

Corpus synthetic_corpus(SyntheticSplit split, std::size_t count, std::uint64_t seed, bool pairs) {
  Corpus corpus{.source = std::string{kSyntheticInstructions}, .format = CorpusFormat::kInstructions};
  corpus.texts.reserve(count);
  for (std::size_t i = 0; i < count; ++i) {
    const Instruction one = synthetic_instruction(seed, split, i);
    corpus.texts.push_back(pairs ? instruction_source(one) : instruction_text(one));
    if (pairs) corpus.answers.push_back(one.response);
  }
  return corpus;
}

}  // namespace workloads
