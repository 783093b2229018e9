#include "frontend/hlo/proto.h"
#include "frontend/hlo/values_proto.h"

namespace trnsim::frontend::hlo {
namespace {

class ProtoWriter {
 public:
  explicit ProtoWriter(const Module& module) : module_{module} {}

  std::string write() {
    std::string out;
    MessageWriter message{out};
    if (!module_.name.empty()) message.add_string(1, module_.name);
    message.add_string(2, module_.computations[module_.entry].name);
    for (std::size_t c = 0; c < module_.computations.size(); ++c) {
      MessageWriter part{message, 3};
      computation(part, c);
    }
    if (module_.result_layout) layouts(message);
    message.add_int64(6, static_cast<std::int64_t>(module_.entry) + 1);
    aliases(message, 8, module_.aliases, kAliasFields);
    if (module_.replicas > 0 || module_.partitions > 0) {
      MessageWriter part{message, 15};
      if (module_.replicas > 0) part.add_int64(1, module_.replicas);
      if (module_.partitions > 0) part.add_int64(2, module_.partitions);
    }
    if (module_.frames != StackFrames{}) frames(message);
    aliases(message, 18, module_.donors, kDonorFields);
    if (!module_.frontend.empty()) {
      MessageWriter part{message, 19};
      write_map(part, module_.frontend);
    }
    return out;
  }

 private:
  static void aliases(MessageWriter& message, std::uint32_t field, const std::vector<Aliasing>& list,
                      std::span<const std::uint32_t, 4> fields) {
    if (list.empty()) return;
    MessageWriter part{message, field};
    for (const Aliasing& alias : list) {
      MessageWriter entry{part, 1};
      write_alias(entry, alias, fields);
    }
  }

  void layouts(MessageWriter& message) const {
    MessageWriter program{message, 4};
    for (const Shape& shape : module_.parameter_layouts) {
      MessageWriter part{program, 1};
      write_shape(part, shape);
    }
    MessageWriter part{program, 2};
    write_shape(part, *module_.result_layout);
  }

  void frames(MessageWriter& message) const {
    MessageWriter index{message, 17};
    for (const std::string& file : module_.frames.files) index.add_string(1, file);
    for (const std::string& function : module_.frames.functions) index.add_string(2, function);
    const auto rows = [&](std::uint32_t field, const Rows& list) {
      for (const Ints& row : list) {
        MessageWriter part{index, field};
        for (std::size_t i = 0; i < row.size(); ++i)
          if (row[i] != 0) part.add_int64(static_cast<std::uint32_t>(i + 1), row[i]);
      }
    };
    rows(3, module_.frames.locations);
    rows(4, module_.frames.frames);
  }

  void computation(MessageWriter& message, std::size_t number) {
    const Computation& computation = module_.computations[number];
    first_id_ = next_id_;
    next_id_ += static_cast<std::int64_t>(computation.instructions.size());
    message.add_string(1, computation.name);
    for (std::size_t i = 0; i < computation.instructions.size(); ++i) {
      MessageWriter part{message, 2};
      instruction(part, computation.instructions[i], first_id_ + static_cast<std::int64_t>(i));
    }
    message.add_int64(5, static_cast<std::int64_t>(number) + 1);
    message.add_int64(6, first_id_ + computation.root);
  }

  void instruction(MessageWriter& message, const Instruction& one, std::int64_t id) const {
    message.add_string(1, one.name);
    message.add_string(2, one.opcode);
    {
      MessageWriter part{message, 3};
      write_shape(part, one.shape);
    }
    if (one.metadata != Metadata{}) {
      MessageWriter part{message, 7};
      write_metadata(part, one.metadata);
    }
    if (one.literal) {
      MessageWriter part{message, 8};
      write_literal(part, *one.literal, one.shape);
    }
    write_attributes(message, one);
    message.add_int64(35, id);
    ids(message, 36, one.operands, first_id_);
    ids(message, 37, one.control, first_id_);
    ids(message, 38, one.called, 1);
  }

  static void ids(MessageWriter& message, std::uint32_t field, const std::vector<std::uint32_t>& list,
                  std::int64_t first) {
    if (list.empty()) return;
    Ints out;
    for (const std::uint32_t i : list) out.push_back(first + i);
    message.add_packed_int64(field, out.begin(), out.end());
  }

  const Module& module_;
  std::int64_t first_id_ = 1, next_id_ = 1;  // an id of an instruction is unique in the module
};

}  // namespace

std::string write_proto(const Module& module) { return ProtoWriter{module}.write(); }

}  // namespace trnsim::frontend::hlo
