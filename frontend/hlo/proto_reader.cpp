#include <fmt/format.h>

#include <limits>
#include <protozero/exception.hpp>
#include <unordered_map>

#include "base/error.h"
#include "frontend/hlo/proto.h"
#include "frontend/hlo/values_proto.h"

namespace trnsim::frontend::hlo {
namespace {

class ProtoReader {
 public:
  explicit ProtoReader(std::string_view file) : file_{file} {}

  Module read(Message message) {
    std::int64_t entry_id = 0;
    std::string entry_name;
    while (message.next()) {
      switch (message.tag()) {
        case 1: module_.name = message.get_string(); break;
        case 2: entry_name = message.get_string(); break;
        case 3: computation(message.get_message()); break;
        case 4: layouts(message.get_message()); break;
        case 6: entry_id = message.get_int64(); break;
        case 8: aliases(message.get_message(), kAliasFields, module_.aliases); break;
        case 15: devices(message.get_message()); break;
        case 17: frames(message.get_message()); break;
        case 18: aliases(message.get_message(), kDonorFields, module_.donors); break;
        case 19: module_.frontend = map_of(message.get_message()); break;
        default: message.skip();
      }
    }
    if (module_.computations.empty()) fail(file_, "has no computation");
    module_.entry = entry_of(entry_id, entry_name);
    return std::move(module_);
  }

 private:
  [[noreturn]] void fail(std::string_view where, std::string_view what) const {
    throw base::Error{base::Fault::kData, where, what, "give an HloModuleProto, as the compile cache holds it"};
  }

  std::uint32_t entry_of(std::int64_t id, const std::string& name) const {
    if (const auto found = computations_.find(id); found != computations_.end()) return found->second;
    for (std::size_t c = 0; c < module_.computations.size(); ++c)
      if (module_.computations[c].name == name) return static_cast<std::uint32_t>(c);
    fail(file_, "has no entry computation");
  }

  void aliases(Message message, std::span<const std::uint32_t, 4> fields, std::vector<Aliasing>& out) const {
    while (message.next()) {
      if (message.tag() == 1)
        out.push_back(alias_of(message.get_message(), fields));
      else
        message.skip();
    }
  }

  void devices(Message message) {
    while (message.next()) {
      if (message.tag() == 1)
        module_.replicas = message.get_int64();
      else if (message.tag() == 2)
        module_.partitions = message.get_int64();
      else
        message.skip();
    }
  }

  void layouts(Message message) {
    while (message.next()) {
      if (message.tag() == 1)
        module_.parameter_layouts.push_back(shape_of(message.get_message(), file_));
      else if (message.tag() == 2)
        module_.result_layout = shape_of(message.get_message(), file_);
      else
        message.skip();
    }
    if (!module_.result_layout) module_.parameter_layouts.clear();  // a program has all of them or none
  }

  void frames(Message message) {
    StackFrames& out = module_.frames;
    const auto row = [](Message part, std::size_t size) {
      Ints numbers(size);
      while (part.next()) {
        if (part.tag() <= size)
          numbers[part.tag() - 1] = part.get_int64();
        else
          part.skip();
      }
      return numbers;
    };
    while (message.next()) {
      switch (message.tag()) {
        case 1: out.files.push_back(message.get_string()); break;
        case 2: out.functions.push_back(message.get_string()); break;
        case 3: out.locations.push_back(row(message.get_message(), 4)); break;
        case 4: out.frames.push_back(row(message.get_message(), 2)); break;
        default: message.skip();
      }
    }
  }

  void computation(Message message) {
    Computation made;
    std::int64_t id = 0, root = 0;
    instructions_.clear();
    while (message.next()) {
      switch (message.tag()) {
        case 1: made.name = message.get_string(); break;
        case 2: instruction(message.get_message(), made); break;
        case 5: id = message.get_int64(); break;
        case 6: root = message.get_int64(); break;
        default: message.skip();
      }
    }
    const auto found = instructions_.find(root);
    if (made.instructions.empty() || found == instructions_.end())
      fail(fmt::format("{}: computation {}", file_, made.name), "has no root");
    made.root = found->second;
    if (!computations_.emplace(id, static_cast<std::uint32_t>(module_.computations.size())).second)
      fail(fmt::format("{}: computation {}", file_, made.name), "its id is used twice");
    module_.computations.push_back(std::move(made));
  }

  /// The numbers of other instructions and computations, before they are resolved.
  struct Raw {
    std::int64_t id = 0;
    Ints operands, control, called;
  };

  void instruction(const Message& message, Computation& into) {
    Instruction made;
    // Attributes depend on the opcode, whose field comes early, but a proto's fields may have any order.
    for (Message names = message; names.next();) {
      if (names.tag() == 1)
        made.name = names.get_string();
      else if (names.tag() == 2)
        made.opcode = names.get_string();
      else
        names.skip();
    }
    const std::string where = fmt::format("{}: {}", file_, made.name);
    Raw raw;
    for (Message fields = message; fields.next();)
      if (!field(fields, made, raw, where) && !read_attribute(fields, made, where)) fields.skip();
    for (Message fields = message; fields.next();)  // its shape is known now
      if (fields.tag() == 8 && made.opcode == "constant")
        made.literal = literal_of(fields.get_message(), made.shape, where);
      else
        fields.skip();
    if (made.opcode == "constant" && !made.literal)
      made.literal = Literal{.elided = elements_of(made.shape, where) > 0};
    resolve(raw.operands, instructions_, made.operands, where);
    resolve(raw.control, instructions_, made.control, where);
    resolve(raw.called, computations_, made.called, where);
    if (!instructions_.emplace(raw.id, static_cast<std::uint32_t>(into.instructions.size())).second)
      fail(where, "its id is used twice");
    into.instructions.push_back(std::move(made));
  }

  /// Fields that are no attributes. False: it is another one.
  bool field(Message& fields, Instruction& made, Raw& raw, std::string_view where) const {
    switch (fields.tag()) {
      case 1:
      case 2:
      case 8: return fields.skip(), true;
      case 3: return made.shape = shape_of(fields.get_message(), where), true;
      case 7: return made.metadata = metadata_of(fields.get_message()), true;
      case 35: return raw.id = fields.get_int64(), true;
      case 36: return append_ints(fields, raw.operands), true;
      case 37: return append_ints(fields, raw.control), true;
      case 38: return append_ints(fields, raw.called), true;
      default: return false;
    }
  }

  using Ids = std::unordered_map<std::int64_t, std::uint32_t>;

  /// Errors: an id that nothing before has, so that no graph has a circle.
  void resolve(const Ints& ids, const Ids& known, std::vector<std::uint32_t>& out, std::string_view where) const {
    for (const std::int64_t id : ids) {
      const auto found = known.find(id);
      if (found == known.end()) fail(where, fmt::format("names {}, which does not come before it", id));
      out.push_back(found->second);
    }
  }

  std::string file_;
  Module module_;
  Ids instructions_;  // of the computation that is read
  Ids computations_;
};

}  // namespace

Module read_proto(std::string_view bytes, std::string_view file) {
  try {
    return ProtoReader{file}.read(Message{bytes.data(), bytes.size()});
  } catch (const protozero::exception& problem) {
    throw base::Error{base::Fault::kData, file, fmt::format("is not an HloModuleProto: {}", problem.what()),
                      "give a file of the compile cache, or HLO text"};
  }
}

}  // namespace trnsim::frontend::hlo
