// Values as sums of others times numbers for all elements, however a program spells them.
#pragma once

#include <list>
#include <optional>
#include <set>
#include <vector>

#include "frontend/graph/producers.h"
#include "frontend/rewrite/factors.h"

namespace trnsim::frontend::rewrite {

struct Form;

/// A summand, which its factor multiplies.
struct Atom {
  enum class Kind : std::uint8_t {
    kOne,       // 1
    kValue,     // a value
    kSquare,    // its square
    kRoot,      // its square root
    kQuotient,  // a value through a sum; without a value 1 through it
  };
  Kind kind = Kind::kOne;
  std::optional<ValueId> value{};
  std::list<struct Term> below = {};  // a vector of an incomplete type has no initializer in clang

  bool operator==(const Atom& other) const;
};
struct Term {
  Atom atom{};
  FactorId factor = 0;
  bool operator==(const Term&) const = default;
};

/// The sum of atoms times factors.
struct Form {
  std::vector<Term> terms{};

  /// The only term of a kind; nullptr: none, or several.
  const Term* of(Atom::Kind kind) const;
  const Term* of_value(ValueId value) const;
  bool is_factor() const { return terms.size() == 1 && terms[0].atom.kind == Atom::Kind::kOne; }
};

class Forms {
 public:
  /// Values of these are not looked behind.
  Forms(const Function& function, const Producers& producers, Factors& factors, std::set<ValueId> stops);

  Form of(ValueId value);
  /// The same value but for a factor, a number that is added, or a wider type; none: another operation makes it.
  std::optional<ValueId> unscaled(ValueId value);

 private:
  static constexpr std::size_t kMostValues = 48;

  Form computed(ValueId value);
  Form only(Atom atom, FactorId factor) { return {{{std::move(atom), factor}}}; }
  Form opaque(ValueId value) { return only({.kind = Atom::Kind::kValue, .value = value}, factors_.number(1)); }
  std::optional<FactorId> factor_of(ValueId value);
  Form sum(const Form& a, const Form& b, double sign);
  Form scaled(Form a, FactorId by);
  Form product(const Node& node);
  Form quotient(const Node& node);
  Form power(const Node& node);
  Form square(ValueId value);
  Form root(ValueId value);
  Form inverse(const Form& of);

  const Function& function_;
  const Producers& producers_;
  Factors& factors_;
  const std::set<ValueId> stops_;
  std::map<ValueId, Form> known_;
};

}  // namespace trnsim::frontend::rewrite
