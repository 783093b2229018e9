#include "frontend/hlo/values_proto.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/error.h"

namespace trnsim::frontend::hlo {
namespace {

constexpr int kDeepestProto = 100;

[[noreturn]] void fail_proto(std::string_view where, std::string_view what) {
  throw base::Error{base::Fault::kData, where, what, "write the file again with the framework that made it"};
}

bool is_packed(const Message& message) { return message.wire_type() == protozero::pbf_wire_type::length_delimited; }

Layout layout_of(Message message) {
  Layout out;
  while (message.next()) {
    if (message.tag() == 1)
      append_ints(message, out.minor_to_major);
    else if (message.tag() == 7)
      out.element_bits = message.get_int64();
    else if (message.tag() == 8)
      out.memory_space = message.get_int64();
    else if (message.tag() == 6) {
      Message tile = message.get_message();
      Ints dims;
      while (tile.next()) tile.tag() == 1 ? append_ints(tile, dims) : tile.skip();
      for (std::int64_t& dim : dims)
        if (dim == std::numeric_limits<std::int64_t>::min()) dim = -1;  // joined with the next dimension
      if (!dims.empty()) out.tiles.push_back(std::move(dims));
    } else
      message.skip();
  }
  return out;
}

/// The numbers of a message whose fields 1, 2, ... are whole numbers; `standard` for those that are absent.
Ints numbers_of(Message message, const Ints& standard) {
  Ints out = standard;
  while (message.next()) {
    const std::size_t at = message.tag() - 1;
    if (at < out.size() && message.wire_type() == protozero::pbf_wire_type::varint)
      out[at] = message.get_int64();
    else
      message.skip();
  }
  return out;
}

Ints field_ints(Message message, std::uint32_t field) {
  Ints out;
  while (message.next()) message.tag() == field ? append_ints(message, out) : message.skip();
  return out;
}

Rows window_of(Message message) {
  // The proto's order: size, stride, low, high, window dilation, base dilation, reversal.
  Rows out;
  while (message.next()) {
    if (message.tag() != 1) {
      message.skip();
      continue;
    }
    Ints row = numbers_of(message.get_message(), {0, 1, 0, 0, 1, 1, 0});
    for (const std::size_t i : {1U, 4U, 5U}) row[i] = std::max<std::int64_t>(row[i], 1);
    out.push_back(std::move(row));
  }
  return out;
}

/// Batch (output feature), feature (input feature), spatial dimensions: of input, kernel and output.
struct ConvolutionFields {
  std::uint32_t batch, feature, spatial;
};
constexpr std::array<ConvolutionFields, 3> kConvolutionPlaces{{{7, 8, 11}, {4, 3, 6}, {9, 10, 12}}};

Rows convolution_of(Message message) {
  Rows out(3, Ints{0, 0});
  while (message.next()) {
    bool known = false;
    for (std::size_t i = 0; i < kConvolutionPlaces.size() && !known; ++i) {
      const ConvolutionFields& fields = kConvolutionPlaces[i];
      known = message.tag() == fields.batch || message.tag() == fields.feature || message.tag() == fields.spatial;
      if (message.tag() == fields.batch)
        out[i][0] = message.get_int64();
      else if (message.tag() == fields.feature)
        out[i][1] = message.get_int64();
      else if (message.tag() == fields.spatial)
        append_ints(message, out[i]);
    }
    if (!known) message.skip();
  }
  return out;
}

Sharding sharding_of(Message message, std::string_view where, int depth) {
  if (depth > kDeepestProto) fail_proto(where, "has more than 100 nested tuples");
  Sharding out;
  while (message.next()) {
    switch (message.tag()) {
      case 1: out.type = message.get_int64(); break;
      case 3: append_ints(message, out.tile_dims); break;
      case 4: append_ints(message, out.devices); break;
      case 5: out.elements.push_back(sharding_of(message.get_message(), where, depth + 1)); break;
      case 6: out.replicate_last = message.get_bool(); break;
      case 8: append_ints(message, out.last_tile_dims); break;
      case 9: append_ints(message, out.reshape); break;
      case 10: append_ints(message, out.transpose); break;
      default: message.skip();
    }
  }
  if (out.type < 0 || out.type > 5) fail_proto(where, "has a sharding of unknown type");
  return out;
}

Held device_list_of(Message message) {
  Rows groups;
  IotaGroups iota;
  while (message.next()) {
    if (message.tag() == 1) {
      Ints group = field_ints(message.get_message(), 1);
      if (!group.empty()) groups.push_back(std::move(group));
      continue;
    }
    if (message.tag() != 2) {
      message.skip();
      continue;
    }
    Message list = message.get_message();
    while (list.next()) {
      if (list.tag() == 1)
        iota.groups = list.get_int64();
      else if (list.tag() == 2)
        iota.ranks = list.get_int64();
      else if (list.tag() == 3)
        append_ints(list, iota.reshape);
      else if (list.tag() == 4)
        append_ints(list, iota.transpose);
      else
        list.skip();
    }
  }
  if (iota.groups > 0) return iota;
  return groups;
}

template <class T>
T held_or_new(const Instruction& instruction, const Form& form) {
  for (const Attribute& attribute : instruction.attributes)
    if (attribute.form == &form) return std::get<T>(attribute.value);
  return T{};
}

void append_row(Instruction& instruction, const Form& form, Ints row) {
  if (row.empty()) return;
  Rows rows = held_or_new<Rows>(instruction, form);
  rows.push_back(std::move(row));
  add(instruction, form, std::move(rows));
}

std::int64_t word_number(const Form& form, std::int64_t number, std::string_view where) {
  if (number >= 0 && number < static_cast<std::int64_t>(form.words.size())) return number;
  fail_proto(where, fmt::format("has {} {}", form.name, number));
}

/// The same for attributes that are messages.
void read_message(Message& message, Instruction& to, const Form& form, std::string_view where) {
  switch (form.kind) {
    case FormKind::kSlices: {
      Ints row = numbers_of(message.get_message(), {0, 0, 1});
      row[2] = std::max<std::int64_t>(row[2], 1);
      return append_row(to, form, std::move(row));
    }
    case FormKind::kPadding: {
      Message padding = message.get_message();
      while (padding.next())
        padding.tag() == 1 ? append_row(to, form, numbers_of(padding.get_message(), {0, 0, 0})) : padding.skip();
      return;
    }
    case FormKind::kWindow: return add(to, form, window_of(message.get_message()));
    case FormKind::kConvolution: return add(to, form, convolution_of(message.get_message()));
    case FormKind::kGroups: return append_row(to, form, field_ints(message.get_message(), 1));
    case FormKind::kPairs: return append_row(to, form, numbers_of(message.get_message(), {0, 0}));
    case FormKind::kSharding: return add(to, form, sharding_of(message.get_message(), where, 0));
    case FormKind::kShapes: {
      auto shapes = held_or_new<std::vector<Shape>>(to, form);
      shapes.push_back(shape_of(message.get_message(), where));
      return add(to, form, std::move(shapes));
    }
    case FormKind::kAliasing: {
      auto aliases = held_or_new<std::vector<Aliasing>>(to, form);
      aliases.push_back(alias_of(message.get_message(), kAliasFields));
      return add(to, form, std::move(aliases));
    }
    case FormKind::kMap: return add(to, form, map_of(message.get_message(), held_or_new<TextMap>(to, form)));
    default: message.skip();
  }
}

/// Reads the field, which is the attribute's or a part of it.
void read_form(Message& message, Instruction& to, const Form& form, std::string_view where) {
  switch (form.kind) {
    case FormKind::kInt: return add(to, form, message.get_int64());
    case FormKind::kBool: return add(to, form, std::int64_t{message.get_bool()});
    case FormKind::kFloat: return add(to, form, static_cast<double>(message.get_float()));
    case FormKind::kWord:
    case FormKind::kText:
    case FormKind::kBackend: return add(to, form, message.get_string());
    case FormKind::kEnum: return add(to, form, word_number(form, message.get_enum(), where));
    case FormKind::kEnums:
    case FormKind::kInts: {
      Ints ints = held_or_new<Ints>(to, form);
      append_ints(message, ints);
      if (form.kind == FormKind::kEnums)
        for (const std::int64_t number : ints) word_number(form, number, where);
      return add(to, form, std::move(ints));
    }
    default: return read_message(message, to, form, where);
  }
}

const Form* form_at(std::uint32_t field, std::uint32_t sub, const Instruction& instruction) {
  for (const Form& form : all_forms())
    if (form.field == field && form.sub == sub && (form.only.empty() || form.only == instruction.opcode)) return &form;
  return nullptr;
}

}  // namespace

void append_ints(Message& message, Ints& out) {
  if (!is_packed(message)) {
    out.push_back(message.get_int64());
    return;
  }
  for (const std::int64_t value : message.get_packed_int64()) out.push_back(value);
}

Shape shape_of(Message message, std::string_view where, int depth) {
  if (depth > kDeepestProto) fail_proto(where, "has more than 100 nested tuples");
  Shape out;
  while (message.next()) {
    switch (message.tag()) {
      case 2: out.element = element_numbered(message.get_enum(), where); break;
      case 3: append_ints(message, out.dims); break;
      case 4: out.elements.push_back(shape_of(message.get_message(), where, depth + 1)); break;
      case 5: out.layout = layout_of(message.get_message()); break;
      case 6: {
        Ints flags;
        append_ints(message, flags);
        for (const std::int64_t flag : flags) out.dynamic.push_back(flag != 0);
        break;
      }
      default: message.skip();
    }
  }
  if (std::ranges::none_of(out.dynamic, [](bool is) { return is; })) out.dynamic.clear();
  if (!out.dynamic.empty()) out.dynamic.resize(out.dims.size());
  if (out.dims.size() > 64) fail_proto(where, "has more than 64 dimensions");
  if (out.layout && *out.layout == Layout{}) out.layout.reset();
  if (out.element == Element::kTuple || out.element == Element::kToken) out.layout.reset();
  elements_of(out, where);
  return out;
}

Metadata metadata_of(Message message) {
  Metadata out;
  while (message.next()) {
    switch (message.tag()) {
      case 1: out.op_type = message.get_string(); break;
      case 2: out.op_name = message.get_string(); break;
      case 3: out.file = message.get_string(); break;
      case 4: out.line = message.get_int64(); break;
      case 12: out.deduplicated = message.get_string(); break;
      case 15: out.frame = message.get_int64(); break;
      case 16: out.scheduling = message.get_string(); break;
      default: message.skip();
    }
  }
  return out;
}

Aliasing alias_of(Message message, std::span<const std::uint32_t, 4> fields) {
  Aliasing out;
  while (message.next()) {
    if (message.tag() == fields[0])
      append_ints(message, out.output);
    else if (message.tag() == fields[1])
      out.operand = message.get_int64();
    else if (message.tag() == fields[2])
      append_ints(message, out.operand_index);
    else if (message.tag() == fields[3])
      out.kind = message.get_int64();
    else
      message.skip();
  }
  return out;
}

TextMap map_of(Message message, TextMap map) {
  while (message.next()) {
    if (message.tag() != 1) {
      message.skip();
      continue;
    }
    Message entry = message.get_message();
    std::pair<std::string, std::string> pair;
    while (entry.next()) {
      if (entry.tag() == 1)
        pair.first = entry.get_string();
      else if (entry.tag() == 2)
        pair.second = entry.get_string();
      else
        entry.skip();
    }
    map.push_back(std::move(pair));
  }
  std::ranges::sort(map);
  return map;
}

bool read_attribute(Message& message, Instruction& to, std::string_view where) {
  const std::uint32_t field = message.tag();
  if (field == 87) {  // the newer form of replica groups
    add(to, *form_named("replica_groups", to.opcode), device_list_of(message.get_message()));
    return true;
  }
  if (const Form* form = form_at(field, 0, to)) return read_form(message, to, *form, where), true;
  const bool message_field =
      std::ranges::any_of(all_forms(), [&](const Form& form) { return form.field == field && form.sub != 0; });
  if (!message_field) return false;
  Message part = message.get_message();
  while (part.next()) {
    const Form* form = form_at(field, part.tag(), to);
    form ? read_form(part, to, *form, where) : part.skip();
  }
  return true;
}

}  // namespace trnsim::frontend::hlo
