#include "frontend/rewrite/forms.h"

#include <algorithm>

#include "frontend/ops/operator.h"
#include "frontend/rewrite/patterns.h"
#include "frontend/rewrite/samples.h"

namespace trnsim::frontend::rewrite {

using Kind = Atom::Kind;

bool Atom::operator==(const Atom& other) const {
  return kind == other.kind && value == other.value && below == other.below;
}

const Term* Form::of(Kind kind) const {
  const auto is = [&](const Term& term) { return term.atom.kind == kind; };
  const auto found = std::ranges::find_if(terms, is);
  return std::ranges::count_if(terms, is) == 1 ? &*found : nullptr;
}

const Term* Form::of_value(ValueId value) const {
  const auto found = std::ranges::find_if(
      terms, [&](const Term& term) { return term.atom.kind == Kind::kValue && term.atom.value == value; });
  return found == terms.end() ? nullptr : &*found;
}

Forms::Forms(const Function& function, const Producers& producers, Factors& factors, std::set<ValueId> stops)
    : function_{function}, producers_{producers}, factors_{factors}, stops_{std::move(stops)} {}

Form Forms::of(ValueId value) {
  if (const auto known = known_.find(value); known != known_.end()) return known->second;
  if (stops_.contains(value) || known_.size() > kMostValues) return opaque(value);
  known_.emplace(value, opaque(value));  // until it is known
  Form form = computed(value);
  constexpr std::size_t kMostTerms = 4;
  if (form.terms.size() > kMostTerms) form = opaque(value);
  return known_[value] = std::move(form);
}

/// A number for all elements: a constant, or a value of one element that is spread.
std::optional<FactorId> Forms::factor_of(ValueId value) {
  if (const auto number = number_of(function_, producers_, value)) return factors_.number(*number);
  const Node* node = producers_.of(value);
  if (!node || node->op->name != "broadcast_in_dim" || !function_.type(node->operands[0]).dims.empty()) return {};
  return factors_.value(node->operands[0]);
}

Form Forms::computed(ValueId value) {
  if (!is_float(function_.type(value).element)) return opaque(value);
  if (const auto factor = factor_of(value)) return only({.kind = Kind::kOne}, *factor);
  const Node* node = producers_.of(value);
  if (!node) return opaque(value);
  const std::string_view op = node->op->name;
  const auto in = [&](std::size_t i) { return of(node->operands[i]); };
  if (op == "add") return sum(in(0), in(1), 1);
  if (op == "subtract") return sum(in(0), in(1), -1);
  if (op == "negate") return scaled(in(0), factors_.number(-1));
  if (op == "multiply") return product(*node);
  if (op == "divide") return quotient(*node);
  if (op == "power") return power(*node);
  if (op == "chlo.square") return square(node->operands[0]);
  if (op == "sqrt") return root(node->operands[0]);
  if (op == "rsqrt") return inverse(root(node->operands[0]));
  const bool widens = op == "convert" && is_float(function_.type(node->operands[0]).element) &&
                      info(function_.type(node->operands[0]).element).bits <= info(function_.type(value).element).bits;
  return widens ? in(0) : opaque(value);
}

Form Forms::sum(const Form& a, const Form& b, double sign) {
  Form out = a;
  for (const Term& term : b.terms) {
    const FactorId factor = factors_.product(factors_.number(sign), term.factor);
    const auto same = std::ranges::find(out.terms, term.atom, &Term::atom);
    if (same == out.terms.end())
      out.terms.push_back({term.atom, factor});
    else
      same->factor = factors_.sum(same->factor, factor);
  }
  if (out.terms.size() > 1) std::erase_if(out.terms, [&](const Term& term) { return factors_.is(term.factor, 0); });
  return out;
}

Form Forms::scaled(Form a, FactorId by) {
  for (Term& term : a.terms) term.factor = factors_.product(by, term.factor);
  return a;
}

Form Forms::square(ValueId value) {
  const Form form = of(value);
  if (form.is_factor()) return only({.kind = Kind::kOne}, factors_.product(form.terms[0].factor, form.terms[0].factor));
  if (form.terms.size() != 1 || form.terms[0].atom.kind != Kind::kValue)
    return only({.kind = Kind::kSquare, .value = value}, factors_.number(1));
  return only({.kind = Kind::kSquare, .value = form.terms[0].atom.value},
              factors_.product(form.terms[0].factor, form.terms[0].factor));
}

Form Forms::root(ValueId value) {
  const Form form = of(value);
  if (form.is_factor()) return only({.kind = Kind::kOne}, factors_.root(form.terms[0].factor));
  return only({.kind = Kind::kRoot, .value = value}, factors_.number(1));
}

Form Forms::inverse(const Form& of) {
  const FactorId one = factors_.number(1);
  if (of.is_factor()) return only({.kind = Kind::kOne}, factors_.quotient(one, of.terms[0].factor));
  return only({.kind = Kind::kQuotient, .below = {of.terms.begin(), of.terms.end()}}, one);
}

Form Forms::product(const Node& node) {
  if (node.operands[0] == node.operands[1]) return square(node.operands[0]);
  for (const std::size_t i : {0U, 1U}) {
    const ValueId other = node.operands[1 - i];
    const Form form = of(node.operands[i]);
    if (form.is_factor()) return scaled(of(other), form.terms[0].factor);
    const Term* through = form.terms.size() == 1 ? form.of(Kind::kQuotient) : nullptr;
    if (!through || through->atom.value || of(other).is_factor()) continue;
    return only({.kind = Kind::kQuotient, .value = other, .below = through->atom.below}, through->factor);
  }
  const Form a = of(node.operands[0]), b = of(node.operands[1]);
  if (a.terms.size() != 1 || b.terms.size() != 1 || a.terms[0].atom.kind != Kind::kValue ||
      !(a.terms[0].atom == b.terms[0].atom))
    return opaque(node.result());
  return only({.kind = Kind::kSquare, .value = a.terms[0].atom.value},
              factors_.product(a.terms[0].factor, b.terms[0].factor));
}

Form Forms::quotient(const Node& node) {
  const Form above = of(node.operands[0]), below = of(node.operands[1]);
  if (below.is_factor()) return scaled(above, factors_.quotient(factors_.number(1), below.terms[0].factor));
  if (above.is_factor()) return scaled(inverse(below), above.terms[0].factor);
  return only({.kind = Kind::kQuotient, .value = node.operands[0], .below = {below.terms.begin(), below.terms.end()}},
              factors_.number(1));
}

Form Forms::power(const Node& node) {
  const auto exponent = number_of(function_, producers_, node.operands[1]);
  if (exponent == 1.0) return of(node.operands[0]);
  if (exponent == 2.0) return square(node.operands[0]);
  if (exponent == 0.5) return root(node.operands[0]);
  if (exponent == -0.5) return inverse(root(node.operands[0]));
  if (exponent == -1.0) return inverse(of(node.operands[0]));
  return opaque(node.result());
}

std::optional<ValueId> Forms::unscaled(ValueId value) {
  const Node* node = producers_.of(value);
  if (!node) return {};
  const std::string_view op = node->op->name;
  if (op == "negate" || op == "convert") return node->operands[0];
  if (op != "multiply" && op != "divide" && op != "add" && op != "subtract") return {};
  if (of(node->operands[1]).is_factor()) return node->operands[0];
  return op != "divide" && op != "subtract" && of(node->operands[0]).is_factor() ? std::optional{node->operands[1]}
                                                                                 : std::nullopt;
}

}  // namespace trnsim::frontend::rewrite
