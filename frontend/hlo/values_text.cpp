#include "frontend/hlo/values_text.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "frontend/hlo/text.h"

namespace trnsim::frontend::hlo {
namespace {

constexpr int kDeepestText = 100;  // tuples within tuples

/// The number of `word` in an enumeration.
std::int64_t number_in(Cursor& cursor, const Form& form, std::string_view word) {
  const auto found = std::ranges::find(form.words, word);
  if (found != form.words.end()) return found - form.words.begin();
  cursor.fail(fmt::format("{} has no value \"{}\"", form.name, word),
              fmt::format("choose one of {}", fmt::join(form.words, ", ")));
}

/// "3x3" of `size=3x3`, "1_1x0_0" of `pad=...`: rows of `width` numbers.
Rows read_by(Cursor& cursor, std::size_t least, std::size_t most) {
  Rows rows;
  for (;;) {
    Ints row{cursor.integer("a number")};
    while (cursor.here() == '_' && row.size() < most) {
      cursor.return_to(cursor.position() + 1);
      row.push_back(cursor.integer("a number"));
    }
    if (row.size() < least) cursor.fail("too few numbers between the x", "write them as 0_1x2_3");
    rows.push_back(std::move(row));
    if (cursor.here() != 'x') return rows;
    cursor.return_to(cursor.position() + 1);
  }
}

Rows read_window(Cursor& cursor) {
  Rows out;
  // size, stride, low, high, window dilation, base dilation, reversal
  const auto put = [&](const Rows& rows, std::size_t at) {
    if (out.empty()) out.assign(rows.size(), Ints{1, 1, 0, 0, 1, 1, 0});
    if (out.size() != rows.size())
      cursor.fail("the parts of a window have different ranks", "give one for each dimension");
    for (std::size_t d = 0; d < rows.size(); ++d)
      std::ranges::copy(rows[d], out[d].begin() + static_cast<std::ptrdiff_t>(at));
  };
  cursor.expect("{");
  while (cursor.peek() != '}') {
    const std::string_view key = cursor.name("a part of the window");
    constexpr std::array<std::string_view, 6> kKeys{"size",       "stride",     "pad",
                                                    "rhs_dilate", "lhs_dilate", "rhs_reversal"};
    constexpr std::array<std::size_t, 6> kPlaces{0, 1, 2, 4, 5, 6};
    const auto found = std::ranges::find(kKeys, key);
    if (found == kKeys.end())
      cursor.fail(fmt::format("a window has no \"{}\"", key), fmt::format("use {}", fmt::join(kKeys, ", ")));
    cursor.expect("=");
    const std::size_t width = key == "pad" ? 2 : 1;
    put(read_by(cursor, width, width), kPlaces[static_cast<std::size_t>(found - kKeys.begin())]);
  }
  cursor.expect("}");
  return out;
}

/// "bf01_oi01->bf01": of each part the places of batch, feature and spatial dimensions.
Rows read_convolution(Cursor& cursor) {
  const auto part = [&](std::string_view text, char first, char second) {
    Ints row(text.size(), -1);
    for (std::size_t i = 0; i < text.size(); ++i) {
      std::size_t role = row.size();
      if (text[i] == first) role = 0;
      if (text[i] == second) role = 1;
      if (text[i] >= '0' && text[i] <= '9') role = 2 + static_cast<std::size_t>(text[i] - '0');
      if (role >= row.size() || row[role] >= 0)
        cursor.fail("dim_labels are not a permutation", "write them as bf01_oi01->bf01");
      row[role] = static_cast<std::int64_t>(i);
    }
    return row;
  };
  std::string text{cursor.name("labels")};
  cursor.accept("-");
  while (text.ends_with('-')) text.pop_back();
  cursor.expect(">");
  const std::string_view output = cursor.name("labels");
  const std::size_t bar = text.find('_');
  if (bar == std::string::npos) cursor.fail("dim_labels have no \"_\"", "write them as bf01_oi01->bf01");
  return {part(std::string_view{text}.substr(0, bar), 'b', 'f'), part(std::string_view{text}.substr(bar + 1), 'o', 'i'),
          part(output, 'b', 'f')};
}

Rows read_slices(Cursor& cursor) {
  Rows rows;
  cursor.list("{", "}", [&] {
    cursor.expect("[");
    Ints row{cursor.integer("a start"), 0, 1};
    cursor.expect(":");
    row[1] = cursor.integer("a limit");
    if (cursor.accept(":")) row[2] = cursor.integer("a stride");
    cursor.expect("]");
    rows.push_back(std::move(row));
  });
  return rows;
}

Rows read_rows(Cursor& cursor) {
  Rows rows;
  cursor.list("{", "}", [&] { rows.push_back(read_ints(cursor)); });
  return rows;
}

/// [2,128]<=[256] or [128,2]<=[2,128]T(1,0), behind its first bracket.
void read_iota(Cursor& cursor, Ints& reshape, Ints& transpose) {
  cursor.expect("<=");
  cursor.expect("[");
  do reshape.push_back(cursor.integer("a size"));
  while (cursor.accept(","));
  cursor.expect("]");
  if (!cursor.accept("T")) return;
  cursor.expect("(");
  do transpose.push_back(cursor.integer("a dimension"));
  while (cursor.accept(","));
  cursor.expect(")");
}

Held read_groups(Cursor& cursor) {
  if (cursor.peek() == '{') return read_rows(cursor);
  IotaGroups groups;
  cursor.expect("[");
  groups.groups = cursor.integer("the number of groups");
  cursor.expect(",");
  groups.ranks = cursor.integer("the ranks of a group");
  cursor.expect("]");
  read_iota(cursor, groups.reshape, groups.transpose);
  return groups;
}

Ints read_enums(Cursor& cursor, const Form& form) {
  Ints out;
  cursor.expect("{");
  do out.push_back(number_in(cursor, form, cursor.name(form.name)));
  while (cursor.accept(","));
  cursor.expect("}");
  return out;
}

Rows read_padding(Cursor& cursor) {
  Rows rows = read_by(cursor, 2, 3);
  for (Ints& row : rows) row.resize(3);
  return rows;
}

std::vector<Shape> read_shapes(Cursor& cursor) {
  std::vector<Shape> shapes;
  cursor.list("{", "}", [&] { shapes.push_back(read_shape(cursor)); });
  return shapes;
}

std::string read_backend(Cursor& cursor) {
  if (cursor.peek() == '"') return cursor.quoted("backend_config");
  return std::string{cursor.balanced('{', '}')};
}

// Source: xla_data.proto, OpSharding::Type.
constexpr std::array<std::string_view, 6> kShardings{"replicated", "maximal", "", "devices", "manual", "unknown"};
constexpr std::int64_t kTupleSharding = 2, kOther = 3;

void read_devices(Cursor& cursor, Sharding& out) {
  out.type = kOther;
  cursor.expect("=");
  cursor.expect("[");
  do out.tile_dims.push_back(cursor.integer("a size"));
  while (cursor.accept(","));
  cursor.expect("]");
  if (cursor.peek() == '<') return read_iota(cursor, out.reshape, out.transpose);
  do out.devices.push_back(cursor.integer("a device"));
  while (cursor.accept(","));
}

}  // namespace

Ints read_ints(Cursor& cursor) {
  Ints out;
  cursor.list("{", "}", [&] { out.push_back(cursor.integer("a number")); });
  return out;
}

TextMap read_map(Cursor& cursor) {
  TextMap out;
  cursor.list("{", "}", [&] {
    const std::string key = cursor.peek() == '"' ? cursor.quoted("a name") : std::string{cursor.name("a name")};
    cursor.expect("=");
    if (cursor.peek() == '{')
      out.emplace_back(key, std::string{cursor.balanced('{', '}')});
    else
      out.emplace_back(key, cursor.quoted("a value"));
  });
  std::ranges::sort(out);
  return out;
}

std::vector<Aliasing> read_aliases(Cursor& cursor) {
  std::vector<Aliasing> out;
  cursor.list("{", "}", [&] {
    Aliasing one;
    if (cursor.peek() == '{') {
      one.output = read_ints(cursor);
      cursor.expect(":");
    }
    cursor.expect("(");
    one.operand = cursor.integer("a parameter");
    if (cursor.accept(",")) one.operand_index = read_ints(cursor);
    if (cursor.accept(",")) one.kind = cursor.name("may-alias or must-alias") == "must-alias" ? 2 : 1;
    cursor.expect(")");
    out.push_back(std::move(one));
  });
  return out;
}

Sharding read_sharding(Cursor& cursor, int depth) {
  if (depth > kDeepestText) cursor.fail("has more than 100 nested tuples", "flatten them");
  Sharding out;
  cursor.expect("{");
  if (cursor.peek() == '{') {
    out.type = kTupleSharding;
    do out.elements.push_back(read_sharding(cursor, depth + 1));
    while (cursor.accept(","));
  }
  while (cursor.peek() != '}') {
    const std::string_view word = cursor.name("a sharding");
    const auto type = std::ranges::find(kShardings, word);
    if (word == "devices") {
      read_devices(cursor, out);
    } else if (word == "device") {
      cursor.expect("=");
      out.devices.push_back(cursor.integer("a device"));
    } else if (word == "last_tile_dim_replicate") {
      out.replicate_last = true;
    } else if (type != kShardings.end()) {
      out.type = type - kShardings.begin();
    } else if (cursor.accept("=")) {
      pass_value(cursor);
    } else {
      cursor.fail(fmt::format("a sharding has no \"{}\"", word), "use replicated, maximal, manual or devices=[...]");
    }
    cursor.accept(",");
  }
  cursor.expect("}");
  return out;
}

Metadata read_metadata(Cursor& cursor) {
  Metadata out;
  cursor.expect("{");
  while (cursor.peek() != '}') {
    const std::string_view key = cursor.name("a part of metadata");
    cursor.expect("=");
    if (key == "op_type")
      out.op_type = cursor.quoted(key);
    else if (key == "op_name")
      out.op_name = cursor.quoted(key);
    else if (key == "source_file")
      out.file = cursor.quoted(key);
    else if (key == "deduplicated_name")
      out.deduplicated = cursor.quoted(key);
    else if (key == "scheduling_name")
      out.scheduling = cursor.quoted(key);
    else if (key == "source_line")
      out.line = cursor.integer(key);
    else if (key == "stack_frame_id")
      out.frame = cursor.integer(key);
    else
      pass_value(cursor);
    cursor.accept(",");
  }
  cursor.expect("}");
  return out;
}

void pass_value(Cursor& cursor) {
  const char c = cursor.peek();
  if (c == '"')
    cursor.quoted("a value");
  else if (c == '{')
    cursor.balanced('{', '}');
  else if (c == '[')
    cursor.balanced('[', ']');
  else if (c == '(')
    cursor.balanced('(', ')');
  else
    cursor.name("a value");
}

Held read_value(Cursor& cursor, const Form& form) {
  switch (form.kind) {
    case FormKind::kInt: return cursor.integer(form.name);
    case FormKind::kBool: {
      if (cursor.accept("true")) return std::int64_t{1};
      cursor.expect("false");
      return std::int64_t{0};
    }
    case FormKind::kFloat: return cursor.real(form.name);
    case FormKind::kWord: return std::string{cursor.name(form.name)};
    case FormKind::kText: return cursor.quoted(form.name);
    case FormKind::kBackend: return read_backend(cursor);
    case FormKind::kEnum: return number_in(cursor, form, cursor.name(form.name));
    case FormKind::kEnums: return read_enums(cursor, form);
    case FormKind::kInts: return cursor.peek() == '{' ? read_ints(cursor) : Ints{cursor.integer(form.name)};
    case FormKind::kSlices: return read_slices(cursor);
    case FormKind::kPadding: return read_padding(cursor);
    case FormKind::kWindow: return read_window(cursor);
    case FormKind::kConvolution: return read_convolution(cursor);
    case FormKind::kGroups: return read_groups(cursor);
    case FormKind::kPairs: return read_rows(cursor);
    case FormKind::kSharding: return read_sharding(cursor);
    case FormKind::kAliasing: return read_aliases(cursor);
    case FormKind::kMap: return read_map(cursor);
    case FormKind::kShapes: return read_shapes(cursor);
  }
  return std::int64_t{0};
}

}  // namespace trnsim::frontend::hlo
