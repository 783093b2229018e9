#include "runtime/graph/attributes.h"

#include "base/error.h"

namespace runtime {

void Attrs::of_another_op() {
  throw base::Error{base::Fault::kInternal, "attributes of a node", "are asked for as those of another op",
                    "take the type that the op names in its column attrs"};
}

OptionalType Attrs::dtype() const {
  return std::visit(
      [](const auto& attrs) -> OptionalType {
        if constexpr (requires { attrs.dtype; })
          return attrs.dtype;
        else
          return std::nullopt;
      },
      held_);
}

OptionalType Attrs::operand() const {
  return std::visit(
      [](const auto& attrs) -> OptionalType {
        if constexpr (requires { attrs.operand; })
          return attrs.operand;
        else
          return std::nullopt;
      },
      held_);
}

double Attrs::p() const {
  return std::visit(
      [](const auto& attrs) {
        if constexpr (requires { attrs.p; })
          return attrs.p;
        else
          return 0.0;
      },
      held_);
}

}  // namespace runtime
