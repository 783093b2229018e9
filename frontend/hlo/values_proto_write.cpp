#include <array>
#include <limits>

#include "frontend/hlo/values_proto.h"

namespace trnsim::frontend::hlo {
namespace {

void write_ints(MessageWriter& message, std::uint32_t field, const Ints& ints) {
  if (!ints.empty()) message.add_packed_int64(field, ints.begin(), ints.end());
}

void write_number(MessageWriter& message, std::uint32_t field, std::int64_t value) {
  if (value != 0) message.add_int64(field, value);
}

void write_text(MessageWriter& message, std::uint32_t field, const std::string& text) {
  if (!text.empty()) message.add_string(field, text);
}

/// A message whose fields 1, 2, ... are the numbers of `row`.
void write_row(MessageWriter& message, std::uint32_t field, const Ints& row) {
  MessageWriter part{message, field};
  // Zeros too: the writer leaves a message without fields out.
  for (std::size_t i = 0; i < row.size(); ++i) part.add_int64(static_cast<std::uint32_t>(i + 1), row[i]);
}

void write_layout(MessageWriter& message, const Layout& layout) {
  write_ints(message, 1, layout.minor_to_major);
  for (const Ints& tile : layout.tiles) {
    MessageWriter part{message, 6};
    Ints dims = tile;
    for (std::int64_t& dim : dims)
      if (dim == -1) dim = std::numeric_limits<std::int64_t>::min();
    write_ints(part, 1, dims);
  }
  write_number(message, 7, layout.element_bits);
  write_number(message, 8, layout.memory_space);
}

void write_sharding(MessageWriter& message, const Sharding& sharding) {
  message.add_enum(1, static_cast<std::int32_t>(sharding.type));
  write_ints(message, 3, sharding.tile_dims);
  write_ints(message, 4, sharding.devices);
  for (const Sharding& one : sharding.elements) {
    MessageWriter part{message, 5};
    write_sharding(part, one);
  }
  if (sharding.replicate_last) message.add_bool(6, true);
  write_ints(message, 8, sharding.last_tile_dims);
  write_ints(message, 9, sharding.reshape);
  write_ints(message, 10, sharding.transpose);
}

/// Batch, feature, spatial dimensions: of input, kernel and output.
constexpr std::array<std::array<std::uint32_t, 3>, 3> kLabels{{{7, 8, 11}, {4, 3, 6}, {9, 10, 12}}};

struct ToProto {
  MessageWriter& message;
  const Form& form;
  std::uint32_t field;

  void operator()(std::int64_t value) const {
    if (form.kind == FormKind::kBool)
      message.add_bool(field, value != 0);
    else
      message.add_int64(field, value);
  }
  void operator()(double value) const { message.add_float(field, static_cast<float>(value)); }
  void operator()(const std::string& value) const { message.add_bytes(field, value); }
  void operator()(const Ints& value) const { write_ints(message, field, value); }
  void operator()(const Rows& value) const {
    switch (form.kind) {
      case FormKind::kPadding:
      case FormKind::kWindow: {
        MessageWriter part{message, field};
        for (const Ints& row : value) write_row(part, 1, row);
        return;
      }
      case FormKind::kConvolution: {
        MessageWriter part{message, field};
        for (std::size_t i = 0; i < kLabels.size(); ++i) {
          part.add_int64(kLabels[i][0], value.at(i).at(0));
          part.add_int64(kLabels[i][1], value[i].at(1));
          write_ints(part, kLabels[i][2], Ints{value[i].begin() + 2, value[i].end()});
        }
        return;
      }
      case FormKind::kGroups:
        for (const Ints& row : value) {
          MessageWriter part{message, field};
          write_ints(part, 1, row);
        }
        return;
      default:
        for (const Ints& row : value) write_row(message, field, row);
    }
  }
  void operator()(const TextMap& value) const {
    MessageWriter part{message, field};
    write_map(part, value);
  }
  void operator()(const IotaGroups& value) const {
    MessageWriter list{message, 87};
    MessageWriter part{list, 2};
    part.add_int64(1, value.groups);
    part.add_int64(2, value.ranks);
    write_ints(part, 3, value.reshape);
    write_ints(part, 4, value.transpose);
  }
  void operator()(const Sharding& value) const {
    MessageWriter part{message, field};
    write_sharding(part, value);
  }
  void operator()(const std::vector<Aliasing>& value) const {
    for (const Aliasing& alias : value) {
      MessageWriter part{message, field};
      write_alias(part, alias, kAliasFields);
    }
  }
  void operator()(const std::vector<Shape>& value) const {
    for (const Shape& shape : value) {
      MessageWriter part{message, field};
      write_shape(part, shape);
    }
  }
};

}  // namespace

void write_shape(MessageWriter& message, const Shape& shape) {
  message.add_enum(2, static_cast<std::int32_t>(number_of(shape.element)));
  write_ints(message, 3, shape.dims);
  for (const Shape& element : shape.elements) {
    MessageWriter part{message, 4};
    write_shape(part, element);
  }
  if (shape.layout) {
    MessageWriter part{message, 5};
    write_layout(part, *shape.layout);
  }
  if (!shape.dynamic.empty()) {
    const Ints flags{shape.dynamic.begin(), shape.dynamic.end()};
    write_ints(message, 6, flags);
  }
}

void write_metadata(MessageWriter& message, const Metadata& metadata) {
  write_text(message, 1, metadata.op_type);
  write_text(message, 2, metadata.op_name);
  write_text(message, 3, metadata.file);
  write_number(message, 4, metadata.line);
  write_text(message, 12, metadata.deduplicated);
  write_number(message, 15, metadata.frame);
  write_text(message, 16, metadata.scheduling);
}

void write_alias(MessageWriter& message, const Aliasing& alias, std::span<const std::uint32_t, 4> fields) {
  if (fields[0] != 0) write_ints(message, fields[0], alias.output);
  message.add_int64(fields[1], alias.operand);  // 0 too: the writer leaves a message without fields out
  write_ints(message, fields[2], alias.operand_index);
  if (fields[3] != 0) write_number(message, fields[3], alias.kind);
}

void write_map(MessageWriter& message, const TextMap& map) {
  for (const auto& [name, value] : map) {
    MessageWriter entry{message, 1};
    entry.add_string(1, name);
    entry.add_string(2, value);
  }
}

void write_attributes(MessageWriter& message, const Instruction& instruction) {
  std::uint32_t last = 0;  // messages that several attributes share are written once
  for (const Attribute& attribute : instruction.attributes) {
    const Form& form = *attribute.form;
    if (form.sub == 0) {
      std::visit(ToProto{message, form, form.field}, attribute.value);
      continue;
    }
    if (form.field == last) continue;
    last = form.field;
    MessageWriter part{message, form.field};
    for (const Attribute& other : instruction.attributes)
      if (other.form->field == last && other.form->sub != 0)
        std::visit(ToProto{part, *other.form, other.form->sub}, other.value);
  }
}

}  // namespace trnsim::frontend::hlo
