#include <fmt/format.h>

#include <array>

#include "frontend/hlo/text.h"
#include "frontend/hlo/values_text.h"

namespace trnsim::frontend::hlo {
namespace {

std::string iota_text(const Ints& reshape, const Ints& transpose) {
  std::string out = fmt::format("<=[{}]", fmt::join(reshape, ","));
  if (!transpose.empty()) out += fmt::format("T({})", fmt::join(transpose, ","));
  return out;
}

std::string rows_text(const Rows& rows) {
  std::string out = "{";
  for (const Ints& row : rows) out += (out.size() > 1 ? "," : "") + text_of(row);
  return out + "}";
}

std::string slices_text(const Rows& rows) {
  std::string out = "{";
  for (const Ints& row : rows) {
    out += fmt::format("{}[{}:{}", out.size() > 1 ? ", " : "", row[0], row[1]);
    out += row[2] == 1 ? "]" : fmt::format(":{}]", row[2]);
  }
  return out + "}";
}

std::string padding_text(const Rows& rows) {
  std::string out;
  for (const Ints& row : rows) {
    if (!out.empty()) out += 'x';
    out += row[2] == 0 ? fmt::format("{}_{}", row[0], row[1]) : fmt::format("{}_{}_{}", row[0], row[1], row[2]);
  }
  return out;
}

std::string window_text(const Rows& rows) {
  struct Part {
    std::string_view name;
    std::size_t at, width;
    std::int64_t standard;
  };
  constexpr std::array<Part, 6> kParts{Part{"size", 0, 1, -1},      Part{"stride", 1, 1, 1},
                                       Part{"pad", 2, 2, 0},        Part{"lhs_dilate", 5, 1, 1},
                                       Part{"rhs_dilate", 4, 1, 1}, Part{"rhs_reversal", 6, 1, 0}};
  std::string out = "{";
  for (const Part& part : kParts) {
    bool standard = true;
    std::string text;
    for (const Ints& row : rows) {
      if (!text.empty()) text += 'x';
      for (std::size_t i = part.at; i < part.at + part.width; ++i) {
        text += fmt::format("{}{}", i > part.at ? "_" : "", row[i]);
        standard = standard && row[i] == part.standard;
      }
    }
    if (!standard) out += fmt::format("{}{}={}", out.size() > 1 ? " " : "", part.name, text);
  }
  return out + "}";
}

std::string labels_text(const Rows& rows) {
  const auto part = [](const Ints& row, char first, char second) {
    std::string out(row.size(), '?');
    for (std::size_t role = 0; role < row.size(); ++role) {
      const char c = role == 0 ? first : role == 1 ? second : static_cast<char>('0' + role - 2);
      out.at(static_cast<std::size_t>(row[role])) = c;
    }
    return out;
  };
  return part(rows.at(0), 'b', 'f') + "_" + part(rows.at(1), 'o', 'i') + "->" + part(rows.at(2), 'b', 'f');
}

std::string sharding_text(const Sharding& sharding) {
  constexpr std::array<std::string_view, 6> kTypes{"replicated", "maximal", "", "devices", "manual", "unknown"};
  std::string out = "{";
  if (sharding.type == 2) {
    for (const Sharding& one : sharding.elements) out += (out.size() > 1 ? ", " : "") + sharding_text(one);
    return out + "}";
  }
  out += kTypes.at(static_cast<std::size_t>(sharding.type));
  if (sharding.type == 1 && !sharding.devices.empty()) out += fmt::format(" device={}", sharding.devices[0]);
  if (sharding.type != 3) return out + "}";
  out += fmt::format("=[{}]", fmt::join(sharding.tile_dims, ","));
  out += sharding.reshape.empty() ? fmt::format("{}", fmt::join(sharding.devices, ","))
                                  : iota_text(sharding.reshape, sharding.transpose);
  if (sharding.replicate_last) out += " last_tile_dim_replicate";
  return out + "}";
}

std::string shapes_text(const std::vector<Shape>& shapes) {
  std::string out = "{";
  for (const Shape& shape : shapes) out += (out.size() > 1 ? ", " : "") + text_of(shape);
  return out + "}";
}

std::string layout_text(const Layout& layout) {
  std::string out = fmt::format("{{{}", fmt::join(layout.minor_to_major, ","));
  std::string more;
  if (!layout.tiles.empty()) more += "T";
  for (const Ints& tile : layout.tiles) {
    more += "(";
    for (std::size_t i = 0; i < tile.size(); ++i)
      more += (i > 0 ? "," : "") + (tile[i] == -1 ? std::string{"*"} : fmt::format("{}", tile[i]));
    more += ")";
  }
  if (layout.element_bits != 0) more += fmt::format("E({})", layout.element_bits);
  if (layout.memory_space != 0) more += fmt::format("S({})", layout.memory_space);
  if (!more.empty()) out += ":" + more;
  return out + "}";
}

struct ToText {
  const Form& form;

  std::string operator()(std::int64_t value) const {
    if (form.kind == FormKind::kBool) return value ? "true" : "false";
    if (form.kind == FormKind::kEnum) return std::string{form.words[static_cast<std::size_t>(value)]};
    return fmt::format("{}", value);
  }
  std::string operator()(double value) const { return fmt::format("{}", static_cast<float>(value)); }
  std::string operator()(const std::string& value) const {
    if (form.kind == FormKind::kWord || (form.kind == FormKind::kBackend && value.starts_with('{'))) return value;
    return quoted(value);
  }
  std::string operator()(const Ints& value) const {
    if (form.kind != FormKind::kEnums) return text_of(value);
    std::string out = "{";
    for (const std::int64_t i : value)
      out += fmt::format("{}{}", out.size() > 1 ? "," : "", form.words[static_cast<std::size_t>(i)]);
    return out + "}";
  }
  std::string operator()(const Rows& value) const {
    switch (form.kind) {
      case FormKind::kSlices: return slices_text(value);
      case FormKind::kPadding: return padding_text(value);
      case FormKind::kWindow: return window_text(value);
      case FormKind::kConvolution: return labels_text(value);
      default: return rows_text(value);
    }
  }
  std::string operator()(const TextMap& value) const { return text_of(value); }
  std::string operator()(const IotaGroups& value) const {
    return fmt::format("[{},{}]{}", value.groups, value.ranks, iota_text(value.reshape, value.transpose));
  }
  std::string operator()(const Sharding& value) const { return sharding_text(value); }
  std::string operator()(const std::vector<Aliasing>& value) const { return text_of(value, false); }
  std::string operator()(const std::vector<Shape>& value) const { return shapes_text(value); }
};

}  // namespace

std::string text_of(const Shape& shape, bool with_layout) {
  if (shape.element == Element::kTuple) {
    std::string out = "(";
    for (const Shape& element : shape.elements) out += (out.size() > 1 ? ", " : "") + text_of(element, with_layout);
    return out + ")";
  }
  std::string out = fmt::format("{}[", info(shape.element).hlo);
  for (std::size_t d = 0; d < shape.dims.size(); ++d) {
    const bool bounded = d < shape.dynamic.size() && shape.dynamic[d];
    out += fmt::format("{}{}{}", d > 0 ? "," : "", bounded ? "<=" : "", shape.dims[d]);
  }
  out += "]";
  if (with_layout && shape.layout) out += layout_text(*shape.layout);
  return out;
}

std::string text_of(const Form& form, const Held& value) { return std::visit(ToText{form}, value); }

std::string text_of(const Ints& ints, char between) {
  return fmt::format("{{{}}}", fmt::join(ints, std::string(1, between)));
}

std::string text_of(const TextMap& map) {
  std::string out = "{";
  for (const auto& [name, value] : map)
    out += fmt::format("{}{}={}", out.size() > 1 ? "," : "", quoted(name), quoted(value));
  return out + "}";
}

std::string text_of(const Metadata& metadata) {
  std::string out;
  const auto text = [&](std::string_view name, const std::string& value) {
    if (!value.empty()) out += fmt::format("{}{}={}", out.empty() ? "" : " ", name, quoted(value));
  };
  const auto number = [&](std::string_view name, std::int64_t value) {
    if (value != 0) out += fmt::format("{}{}={}", out.empty() ? "" : " ", name, value);
  };
  text("op_type", metadata.op_type), text("op_name", metadata.op_name), text("source_file", metadata.file);
  number("source_line", metadata.line), number("stack_frame_id", metadata.frame);
  text("deduplicated_name", metadata.deduplicated), text("scheduling_name", metadata.scheduling);
  return "{" + out + "}";
}

std::string text_of(const std::vector<Aliasing>& aliases, bool with_kind) {
  std::string out = "{ ";
  for (const Aliasing& one : aliases) {
    if (out.size() > 2) out += ", ";
    out += fmt::format("{}: ({}, {}", text_of(one.output), one.operand, text_of(one.operand_index));
    out += !with_kind ? ")" : one.kind == 2 ? ", must-alias)" : ", may-alias)";
  }
  return out + " }";
}

std::string quoted(std::string_view text) {
  std::string out = "\"";
  for (const char c : text) {
    const auto byte = static_cast<unsigned char>(c);
    if (c == '"' || c == '\\')
      out += '\\', out += c;
    else if (byte < 0x20 || byte == 0x7f)
      out += fmt::format("\\{:03o}", byte);
    else
      out += c;
  }
  return out + "\"";
}

}  // namespace trnsim::frontend::hlo
