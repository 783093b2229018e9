// Updates of optimizers: a parameter, its moments and a gradient, times factors that are constants or data. They are
// known by the sums that they are: AdamW and its relatives by the root of the second moment, gradient descent by the
// parameters whose memory its results take.
#include <algorithm>
#include <optional>
#include <set>

#include "frontend/hlo/attrs_text.h"
#include "frontend/ops/operator.h"
#include "frontend/rewrite/forms.h"
#include "frontend/rewrite/patterns.h"
#include "runtime/graph/attributes.h"

namespace trnsim::frontend::rewrite {
namespace {

using Kind = Atom::Kind;

constexpr std::size_t kMostFollowers = 24, kMostSteps = 8;

/// kept * value + grown * of, as a value of the graph.
struct Moment {
  ValueId result = 0, value = 0;
  FactorId kept = 0, grown = 0;
};

struct UpdateUse {
  ValueId result = 0, w = 0, g = 0;
  FactorId kept = 0, step = 0;
  std::optional<FactorId> decay{}, ahead{};
  std::optional<Moment> m{}, v{};
  FactorId root = 0, eps = 0;
};

class UpdateSearch {
 public:
  UpdateSearch(const Module& module, const Function& function, Factors& factors)
      : function_{function}, producers_{function}, factors_{factors}, readers_(function.values.size()) {
    if (&function == &module.entry_function())
      for (const Alias& alias : module.aliases)
        if (alias.output_index.size() == 1 && alias.parameter_index.empty() &&
            alias.output_index[0] < static_cast<std::int64_t>(function.results.size()))
          places_.emplace(function.results[static_cast<std::size_t>(alias.output_index[0])],
                          static_cast<ValueId>(alias.parameter));
    for (const Node& node : function.nodes)
      for (const ValueId v : node.operands) readers_[v].push_back(&node);
  }

  /// The update whose second moment a node takes the root of.
  std::optional<UpdateUse> adaptive(const Node& root) const {
    const Type& type = function_.type(root.result());
    if (!is_float(type.element) || type.dims.empty()) return {};
    auto v = moment_behind(root.operands[0], Kind::kSquare);
    if (!v) return {};
    std::optional<UpdateUse> out;
    for (const ValueId y : followers(root.result()))
      if (auto found = stepped(y, *v)) out = std::move(found);
    return out;
  }

  /// Results of the program, and the parameters whose memory they take.
  const Producers& producers() const { return producers_; }
  const std::map<ValueId, ValueId>& places() const { return places_; }

  /// The update whose result takes the memory of parameter w: w less its first moment times a rate. The moment takes
  /// that of another one.
  std::optional<UpdateUse> with_momentum(ValueId w, ValueId result) const {
    const Form plain = forms({}).of(result);
    if (!plain.of_value(w) || plain.terms.size() < 3 || !all_values(plain)) return {};
    for (const ValueId y : origins(function_, producers_, result, kMostFollowers, false)) {
      const auto place = places_.find(y);
      if (y == result || place == places_.end()) continue;
      if (auto found = momentum_of(w, result, y, place->second)) return found;
    }
    return {};
  }

  /// The update without moments: w and a gradient, times factors, in w's memory. Vectors stay as they are written:
  /// their running means have this form, too, and no order of their elements costs anything.
  std::optional<UpdateUse> descent(ValueId w, ValueId result) const {
    const Form form = forms({}).of(result);
    const Term* stays = form.of_value(w);
    if (!stays || form.terms.size() != 2 || !all_values(form) || function_.type(w).dims.size() < 2) return {};
    const Term& by = stays == &form.terms[0] ? form.terms[1] : form.terms[0];
    if (!fits(*by.atom.value, w) || !fits(result, w)) return {};
    return UpdateUse{.result = result, .w = w, .g = *by.atom.value, .kept = stays->factor, .step = by.factor};
  }

 private:
  Forms forms(std::set<ValueId> stops) const { return {function_, producers_, factors_, std::move(stops)}; }

  static bool all_values(const Form& form) {
    return std::ranges::all_of(form.terms, [](const Term& term) { return term.atom.kind == Kind::kValue; });
  }

  /// The furthest value behind one, of all that differ by factors, that is a moment of another one, or of its square.
  std::optional<Moment> moment_behind(ValueId value, Kind kind, std::optional<ValueId> of = {}) const {
    Forms all = forms(of ? std::set{*of} : std::set<ValueId>{});
    std::optional<Moment> out;
    std::optional<ValueId> at = value;
    for (std::size_t i = 0; at && i < kMostSteps; ++i, at = all.unscaled(*at)) {
      const Form form = all.of(*at);
      if (form.terms.size() != 2) continue;
      const Term* grown = of && kind == Kind::kValue ? form.of_value(*of) : form.of(kind);
      const Term& rest = grown == &form.terms[0] ? form.terms[1] : form.terms[0];
      if (!grown || rest.atom.kind != Kind::kValue || !fits(*at, *rest.atom.value)) continue;
      if (of && grown->atom.value != *of) continue;
      out = Moment{.result = *at, .value = *rest.atom.value, .kept = rest.factor, .grown = grown->factor};
    }
    return out;
  }

  bool fits(ValueId a, ValueId b) const {
    return function_.type(a).dims == function_.type(b).dims && function_.type(a).element == function_.type(b).element;
  }

  /// Values that are made of one, element by element.
  std::vector<ValueId> followers(ValueId value) const {
    std::vector<ValueId> out{value};
    for (std::size_t i = 0; i < out.size() && out.size() < kMostFollowers; ++i)
      for (const Node* node : readers_[out[i]])
        if (node->op->group == Group::kElementwise && node->results == 1 &&
            std::ranges::find(out, node->result()) == out.end())
          out.push_back(node->result());
    return out;
  }

  /// w * kept + step * (m or g) / (root * sqrt(v) + eps).
  std::optional<UpdateUse> stepped(ValueId y, const Moment& v) const {
    const Form moment = forms({}).of(v.result);
    const Term* square = moment.of(Kind::kSquare);
    if (!square) return {};
    UpdateUse out{.result = y, .g = *square->atom.value, .v = v};
    const Form form = forms({v.result, out.g}).of(y);
    const Term *w = form.of(Kind::kValue), *through = form.of(Kind::kQuotient);
    if (form.terms.size() != 2 || !w || !through || !through->atom.value || !fits(y, *w->atom.value)) return {};
    out.w = *w->atom.value, out.kept = w->factor, out.step = through->factor;
    if (out.w == out.g || out.w == v.value || !divided(out, through->atom) || !numerator(out, *through->atom.value))
      return {};
    decayed(out);
    return out;
  }

  /// root * sqrt(v) + eps.
  bool divided(UpdateUse& use, const Atom& atom) const {
    const Form below{{atom.below.begin(), atom.below.end()}};
    const Term *root = below.of(Kind::kRoot), *eps = below.of(Kind::kOne);
    if (!root || below.terms.size() != (eps ? 2U : 1U)) return false;
    const Form inner = forms({use.v->result}).of(*root->atom.value);
    const Term* v = inner.of_value(use.v->result);
    if (!v || inner.terms.size() != 1) return false;
    use.root = factors_.product(root->factor, factors_.root(v->factor));
    use.eps = eps ? eps->factor : factors_.number(0);
    return true;
  }

  /// The first moment, or the gradient, times a factor.
  bool numerator(UpdateUse& use, ValueId above) const {
    ValueId by = use.g;
    if (const auto m = moment_behind(above, Kind::kValue, use.g)) {
      if (m->value == use.w || m->value == use.v->value) return false;
      use.m = m, by = m->result;
    }
    const Form form = forms({by}).of(above);
    if (form.terms.size() != 1 || !form.of_value(by)) return false;
    use.step = factors_.product(use.step, form.terms[0].factor);
    return true;
  }

  /// A gradient that is the sum of another one and of w times a factor.
  void decayed(UpdateUse& use) const {
    const Form form = forms({}).of(use.g);
    const Term* w = form.of_value(use.w);
    if (form.terms.size() != 2 || !w || !all_values(form)) return;
    const Term& g = w == &form.terms[0] ? form.terms[1] : form.terms[0];
    if (!factors_.is(g.factor, 1) || !fits(*g.atom.value, use.w)) return;
    use.g = *g.atom.value, use.decay = w->factor;
  }

  /// With `m` the first moment of `kept`: m = a kept + b (g + d w); w less m, and with Nesterov less g + d w too.
  std::optional<UpdateUse> momentum_of(ValueId w, ValueId result, ValueId m, ValueId kept) const {
    const Form form = forms({}).of(m), last = forms({m}).of(result);
    const Term *own = form.of_value(kept), *decay = form.of_value(w), *by = last.of_value(m), *stays = last.of_value(w);
    if (kept == w || !all_values(form) || !own || !by || !stays || form.terms.size() != (decay ? 3U : 2U) ||
        !fits(m, kept))
      return {};
    const auto g = std::ranges::find_if(form.terms, [&](const Term& t) { return &t != own && &t != decay; });
    if (!fits(*g->atom.value, w)) return {};
    UpdateUse out{.result = result, .w = w, .g = *g->atom.value, .kept = stays->factor, .step = by->factor};
    out.m = Moment{.result = m, .value = kept, .kept = own->factor, .grown = g->factor};
    if (decay) out.decay = factors_.quotient(decay->factor, g->factor);
    const Term* ahead = last.of_value(out.g);
    if (last.terms.size() != (ahead ? 3U : 2U)) return {};
    if (ahead) out.ahead = ahead->factor;
    if (ahead && decay)  // the gradient of the step has its decay, too
      out.kept =
          factors_.sum(out.kept, factors_.product(factors_.number(-1), factors_.product(*out.ahead, *out.decay)));
    return out;
  }

  const Function& function_;
  const Producers producers_;
  Factors& factors_;
  std::vector<std::vector<const Node*>> readers_;
  std::map<ValueId, ValueId> places_;
};

/// Its factors, in the order in which the operation takes them.
std::vector<FactorId> factors_of(const UpdateUse& use) {
  std::vector<FactorId> all;
  if (use.decay) all.push_back(*use.decay);
  for (const std::optional<Moment>& moment : {use.m, use.v})
    if (moment) all.insert(all.end(), {moment->kept, moment->grown});
  if (use.v) all.insert(all.end(), {use.root, use.eps});
  all.insert(all.end(), {use.kept, use.step});
  if (use.ahead) all.push_back(*use.ahead);
  return all;
}

/// Whether a factor is made of the update's own moments, as the rate of LAMB is: one operation cannot be both.
bool feeds_itself(const Producers& producers, const Factors& factors, const UpdateUse& use) {
  std::set<ValueId> moments;
  const Node* first = nullptr;  // of the moments' nodes: nothing before it depends on them
  for (const std::optional<Moment>& moment : {use.m, use.v}) {
    if (!moment) continue;
    const Node* const node = producers.of(moment->result);
    if (!first || node < first) first = node;
    moments.insert(moment->result);
  }
  std::set<ValueId> seen = moments;
  std::vector<ValueId> open;
  for (const FactorId factor : factors_of(use)) factors.add_values(factor, open);
  while (!open.empty()) {
    const ValueId v = open.back();
    open.pop_back();
    if (moments.contains(v)) return true;
    const Node* const node = producers.of(v);
    if (!node || node < first || !seen.insert(v).second) continue;
    open.insert(open.end(), node->operands.begin(), node->operands.end());
    for (const Region& region : node->regions) open.insert(open.end(), region.captures.begin(), region.captures.end());
  }
  return false;
}

/// The operation, by nodes that are added to `made`.
void put(Function& function, Factors& factors, const UpdateUse& use, std::vector<Node>& made,
         std::map<ValueId, ValueId>& replaced) {
  std::vector<ValueId> operands{use.w, use.g};
  std::vector<ValueId> results{use.result};
  for (const std::optional<Moment>& moment : {use.m, use.v})
    if (moment) operands.push_back(moment->value), results.push_back(moment->result);
  for (const FactorId factor : factors_of(use)) operands.push_back(factors.made(factor, function, made));
  std::vector<Type> types;
  for (const ValueId v : results) types.push_back(function.type(v));
  Node node = custom_call(function, "rewrite.update", operands, types);
  node.attributes.set("backend_config",
                      hlo::words_of(runtime::Attrs{runtime::UpdateAttrs{.moment = use.m.has_value(),
                                                                        .adaptive = use.v.has_value(),
                                                                        .decays = use.decay.has_value(),
                                                                        .ahead = use.ahead.has_value()}}));
  for (std::size_t i = 0; i < results.size(); ++i) replaced[results[i]] = node.result(static_cast<std::uint32_t>(i));
  made.push_back(std::move(node));
}

/// Whether none of its values is another update's.
bool is_apart(const UpdateUse& use, const std::vector<UpdateUse>& others) {
  return std::ranges::none_of(others, [&](const UpdateUse& other) {
    const auto makes = [&other](ValueId v) {
      return v == other.result || (other.m && v == other.m->result) || (other.v && v == other.v->result);
    };
    return makes(use.result) || (use.m && makes(use.m->result)) || (use.v && makes(use.v->result));
  });
}

std::vector<UpdateUse> all_updates(const Module& module, const Function& function, Factors& factors) {
  std::vector<UpdateUse> out;
  const UpdateSearch search{module, function, factors};
  const auto take = [&](std::optional<UpdateUse> found) {
    if (found && is_apart(*found, out) && !feeds_itself(search.producers(), factors, *found))
      out.push_back(std::move(*found));
  };
  for (const Node& node : function.nodes)
    if (const std::string_view op = node.op->name; op == "sqrt" || op == "rsqrt" || op == "power")
      take(search.adaptive(node));
  for (const auto& [result, parameter] : search.places()) take(search.with_momentum(parameter, result));
  for (const auto& [result, parameter] : search.places()) take(search.descent(parameter, result));
  return out;
}

}  // namespace

std::size_t updates(Module& module, Function& function) {
  Factors factors;
  const std::vector<UpdateUse> all = all_updates(module, function, factors);
  if (all.empty()) return 0;
  std::vector<Node> made;
  std::map<ValueId, ValueId> replaced;
  for (const UpdateUse& use : all) put(function, factors, use, made, replaced);
  replace_by(function, made, replaced);
  return all.size();
}

}  // namespace trnsim::frontend::rewrite
