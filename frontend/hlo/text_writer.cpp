#include <fmt/format.h>

#include <array>

#include "frontend/hlo/literal.h"
#include "frontend/hlo/text.h"
#include "frontend/hlo/values_text.h"

namespace trnsim::frontend::hlo {
namespace {

class TextWriter {
 public:
  explicit TextWriter(const Module& module) : module_{module} {}

  std::string write() {
    header();
    frames();
    for (std::size_t c = 0; c < module_.computations.size(); ++c) computation(c);
    return std::move(out_);
  }

 private:
  void header() {
    out_ += "HloModule " + (module_.name.empty() ? std::string{"module"} : module_.name);
    if (!module_.aliases.empty()) out_ += ", input_output_alias=" + text_of(module_.aliases, true);
    if (!module_.donors.empty()) {
      out_ += ", buffer_donor={ ";
      for (std::size_t i = 0; i < module_.donors.size(); ++i)
        out_ += fmt::format("{}({}, {})", i > 0 ? ", " : "", module_.donors[i].operand,
                            text_of(module_.donors[i].operand_index));
      out_ += " }";
    }
    if (module_.result_layout) {
      out_ += ", entry_computation_layout={(";
      for (std::size_t i = 0; i < module_.parameter_layouts.size(); ++i)
        out_ += (i > 0 ? ", " : "") + text_of(module_.parameter_layouts[i]);
      out_ += ")->" + text_of(*module_.result_layout) + "}";
    }
    if (module_.replicas > 0) out_ += fmt::format(", replica_count={}", module_.replicas);
    if (module_.partitions > 0) out_ += fmt::format(", num_partitions={}", module_.partitions);
    if (!module_.frontend.empty()) out_ += ", frontend_attributes=" + text_of(module_.frontend);
    out_ += "\n\n";
  }

  void strings(std::string_view title, const std::vector<std::string>& list) {
    if (list.empty()) return;
    out_ += fmt::format("{}\n", title);
    for (std::size_t i = 0; i < list.size(); ++i) out_ += fmt::format("{} {}\n", i + 1, quoted(list[i]));
    out_ += '\n';
  }

  template <std::size_t N>
  void rows(std::string_view title, const std::array<std::string_view, N>& keys, const Rows& list) {
    if (list.empty()) return;
    out_ += fmt::format("{}\n", title);
    for (std::size_t i = 0; i < list.size(); ++i) {
      out_ += fmt::format("{} {{", i + 1);
      for (std::size_t k = 0; k < N; ++k) out_ += fmt::format("{}{}={}", k > 0 ? " " : "", keys[k], list[i][k]);
      out_ += "}\n";
    }
    out_ += '\n';
  }

  void frames() {
    constexpr std::array<std::string_view, 4> kLocation{"file_name_id", "function_name_id", "line", "column"};
    constexpr std::array<std::string_view, 2> kFrame{"file_location_id", "parent_frame_id"};
    strings("FileNames", module_.frames.files);
    strings("FunctionNames", module_.frames.functions);
    rows("FileLocations", kLocation, module_.frames.locations);
    rows("StackFrames", kFrame, module_.frames.frames);
  }

  void computation(std::size_t c) {
    const Computation& computation = module_.computations[c];
    out_ += fmt::format("{}%{} {{\n", c == module_.entry ? "ENTRY " : "", computation.name);
    for (std::size_t i = 0; i < computation.instructions.size(); ++i) {
      out_ += i == computation.root ? "  ROOT " : "  ";
      instruction(computation, computation.instructions[i]);
    }
    out_ += "}\n\n";
  }

  void instruction(const Computation& computation, const Instruction& one) {
    out_ += fmt::format("%{} = {} {}(", one.name, text_of(one.shape), one.opcode);
    if (one.opcode == "parameter") {
      out_ += fmt::format("{}", int_of(one, "parameter_number"));
    } else if (one.literal) {
      out_ += text_of(*one.literal, one.shape);
    } else {
      for (std::size_t i = 0; i < one.operands.size(); ++i)
        out_ += fmt::format("{}%{}", i > 0 ? ", " : "", computation.instructions[one.operands[i]].name);
    }
    out_ += ')';
    attributes(one);
    calls(one);
    if (!one.control.empty()) {
      out_ += ", control-predecessors={";
      for (std::size_t i = 0; i < one.control.size(); ++i)
        out_ += fmt::format("{}%{}", i > 0 ? ", " : "", computation.instructions[one.control[i]].name);
      out_ += '}';
    }
    if (one.metadata != Metadata{}) out_ += ", metadata=" + text_of(one.metadata);
    out_ += '\n';
  }

  void attributes(const Instruction& one) {
    for (const Form& form : all_forms()) {
      if (form.name == "parameter_number" || form.name == "constrain_layout") continue;
      const Held* held = form.only.empty() || form.only == one.opcode ? find(one, form.name) : nullptr;
      if (!held && !always_written(form, one.opcode)) continue;
      if (!form.only.empty() && form.only != one.opcode) continue;
      const bool iota = one.opcode == "iota" && form.name == "dimensions";
      out_ += fmt::format(", {}=", iota ? "iota_dimension" : form.name);
      if (iota)
        out_ += fmt::format("{}", held ? std::get<Ints>(*held).at(0) : 0);
      else
        out_ += held                              ? text_of(form, *held)
                : form.kind == FormKind::kInt     ? "0"
                : form.kind == FormKind::kPadding ? ""
                                                  : "{}";
    }
  }

  void calls(const Instruction& one) {
    if (one.called.empty()) return;
    const auto name = [&](std::size_t i) { return "%" + module_.computations[one.called[i]].name; };
    if (one.opcode == "while" && one.called.size() == 2) {
      out_ += ", condition=" + name(1) + ", body=" + name(0);
    } else if (one.opcode == "select-and-scatter" && one.called.size() == 2) {
      out_ += ", select=" + name(0) + ", scatter=" + name(1);
    } else if (one.opcode == "conditional" || one.opcode == "custom-call" || one.called.size() > 1) {
      out_ += one.opcode == "conditional" ? ", branch_computations={" : ", called_computations={";
      for (std::size_t i = 0; i < one.called.size(); ++i) out_ += (i > 0 ? ", " : "") + name(i);
      out_ += '}';
    } else {
      out_ += (one.opcode == "fusion" || one.opcode.ends_with("-start") ? ", calls=" : ", to_apply=") + name(0);
    }
  }

  const Module& module_;
  std::string out_;
};

}  // namespace

std::string write_text(const Module& module) { return TextWriter{module}.write(); }

}  // namespace trnsim::frontend::hlo
