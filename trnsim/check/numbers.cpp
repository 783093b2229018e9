// Numbers that can leave the range of their format, or of a function.
#include <fmt/format.h>

#include <array>
#include <cmath>
#include <map>
#include <optional>
#include <set>

#include "frontend/ops/operator.h"
#include "trnsim/check/check.h"

namespace trnsim {
namespace {

using frontend::Element;
using frontend::Function;
using frontend::Module;
using frontend::Node;
using frontend::ValueId;

/// The largest number of a format, by the largest code that is finite.
double largest_finite(Element element) {
  double power = 1;
  while (std::isfinite(frontend::round_to(element, power * 2)) && power < 1e300) power *= 2;
  double most = power;
  for (double step = power / 2; step >= power / 1024; step /= 2)
    if (std::isfinite(frontend::round_to(element, most + step))) most = frontend::round_to(element, most + step);
  return most;
}

bool is_half_or_less(Element e) { return is_float(e) && info(e).bits <= 16; }

class RangeReader {
 public:
  RangeReader(const Module& module, std::vector<Finding>& out) : module_{module}, out_{out} {}

  void read(const Function& f) {
    constants_.clear(), made_.clear(), counted_.clear();
    for (const Node& node : f.nodes) {
      if (node.results == 1) made_[node.result()] = &node;
      follow(f, node);
      judge(f, node);
      wide_types(f, node);
    }
  }

 private:
  void say(std::string_view rule, Concern concern, const Node& node, const std::string& text, const std::string& fix) {
    if (!said_.insert(std::string{rule}).second) return;
    out_.push_back({"numbers", concern, "", fmt::format("{}: {}: {}", module_.where(node), node.op->name, text), fix});
  }

  /// Numbers that are known, and counts from 0 upwards, through conversions and other forms.
  void follow(const Function& f, const Node& node) {
    if (node.results != 1) return;
    const std::string_view name = node.op->name;
    if (name == "constant") {
      const frontend::LiteralPtr value = node.attributes.literal("value");
      if (value && (value->splat || value->count() == 1) && is_float(value->type.element))
        constants_[node.result()] = frontend::decode_float(value->type.element, value->bits(0));
      return;
    }
    if (name == "iota") {
      const auto d = static_cast<std::size_t>(node.attributes.integer("iota_dimension"));
      counted_[node.result()] = static_cast<double>(f.type(node.result()).dims.at(d)) - 1;
      return;
    }
    const bool same = name == "convert" || name == "broadcast_in_dim" || name == "reshape" || name == "broadcast";
    if (!same || node.operands.empty()) return;
    if (const auto found = constants_.find(node.operands[0]); found != constants_.end())
      constants_[node.result()] = frontend::round_to(f.type(node.result()).element, found->second);
    if (const auto found = counted_.find(node.operands[0]); found != counted_.end())
      counted_[node.result()] = found->second;
  }

  void judge(const Function& f, const Node& node) {
    if (node.results != 1 || node.operands.empty()) return counts(f, node);
    const Element in = f.type(node.operands[0]).element, to = f.type(node.result()).element;
    const std::string_view name = node.op->name;
    if (name == "convert" && is_float(in) && is_float(to)) conversion(node, in, to);
    if (name == "exponential" && is_half_or_less(in) && info(in).format.exponent_bits < 8) exponential(node, in);
    if (name == "multiply" && node.operands[0] == node.operands[1] && is_half_or_less(to) &&
        info(to).format.exponent_bits < 8)
      say("square", Concern::kRisk, node,
          fmt::format("squares in {}: numbers above {:.0f} become infinite", info(to).hlo,
                      std::sqrt(largest_finite(to))),
          "square, and sum the squares up, in f32");
    counts(f, node);
  }

  void conversion(const Node& node, Element in, Element to) {
    const auto found = constants_.find(node.operands[0]);
    if (found == constants_.end() || !std::isfinite(found->second) || info(to).bits >= info(in).bits) return;
    const double rounded = frontend::round_to(to, found->second);
    if (!std::isfinite(rounded))
      say("infinite", Concern::kRisk, node,
          fmt::format("the constant {:g} becomes infinite in {}, and minus itself NaN", found->second, info(to).hlo),
          fmt::format("use a number below {:g}", largest_finite(to)));
    if (rounded == 0 && found->second != 0)
      say("zero", Concern::kRisk, node, fmt::format("the constant {:g} becomes 0 in {}", found->second, info(to).hlo),
          "add it in f32, or use a larger one");
  }

  void exponential(const Node& node, Element in) {
    const auto made = made_.find(node.operands[0]);
    const bool below =
        made != made_.end() && (made->second->op->name == "subtract" || made->second->op->name == "negate");
    if (below) return;
    say("exp", Concern::kRisk, node,
        fmt::format("of {}: above {:.4g} the result is infinite, and the largest is not subtracted first", info(in).hlo,
                    std::log(largest_finite(in))),
        "subtract the row's largest first, or compute it in f32");
  }

  /// Whole numbers that a format of few bits cannot hold: positions in bf16.
  void counts(const Function& f, const Node& node) {
    if (node.results != 1) return;
    const auto found = counted_.find(node.result());
    const Element to = f.type(node.result()).element;
    if (found == counted_.end() || !is_half_or_less(to)) return;
    const double exact = std::exp2(info(to).format.mantissa_bits + 1);
    if (found->second <= exact) return;
    say("count", Concern::kRisk, node,
        fmt::format("counts to {:.0f} in {}, which has whole numbers only up to {:.0f}", found->second, info(to).hlo,
                    exact),
        "count in s32 or f32");
  }

  void wide_types(const Function& f, const Node& node) {
    for (std::uint32_t i = 0; i < node.results; ++i) {
      const Element e = f.type(node.result(i)).element;
      if (e == Element::kF64)
        say("f64", Concern::kNote, node, "f64 is computed in f32", "write f32, so that type and computation agree");
    }
    if (node.op->name != "constant") return;
    const frontend::LiteralPtr value = node.attributes.literal("value");
    if (!value || value->type.element != Element::kI64) return;
    for (std::int64_t i = 0; i < (value->splat ? 1 : value->count()); ++i) {
      const auto number = static_cast<std::int64_t>(value->bits(i));
      if (number >= -2147483648LL && number <= 4294967295LL) continue;
      if (number == INT64_MIN || number == INT64_MAX) continue;  // a limit: clamped to that of 32 bits
      say("i64", Concern::kRisk, node,
          fmt::format("{} does not fit into 32 bits, and i64 is computed in 32 bits", number),
          "keep such numbers on the host");
    }
  }

  const Module& module_;
  std::vector<Finding>& out_;
  std::set<std::string> said_;
  std::map<ValueId, double> constants_, counted_;  // counted: the largest
  std::map<ValueId, const Node*> made_;
};

}  // namespace

void check_numbers(const Module& module, std::vector<Finding>& out) {
  const std::size_t before = out.size();
  RangeReader reader{module, out};
  for (const Function& f : module.functions) reader.read(f);
  if (out.size() == before)
    out.push_back({"numbers", Concern::kFine, "", "no number is known to leave the range of its format", ""});
}

}  // namespace trnsim
