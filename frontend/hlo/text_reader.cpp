#include <fmt/format.h>

#include <algorithm>
#include <unordered_map>

#include "base/error.h"
#include "base/suggest.h"
#include "frontend/graph/size.h"
#include "frontend/hlo/literal.h"
#include "frontend/hlo/text.h"
#include "frontend/hlo/values_text.h"

namespace trnsim::frontend::hlo {
namespace {

using NameTable = std::unordered_map<std::string_view, std::uint32_t>;

class TextReader {
 public:
  TextReader(std::string_view text, std::string_view file) : cursor_{text, file} {}

  Module read() {
    if (cursor_.accept("HloModule")) header();
    while (!cursor_.at_end()) {
      if (!section()) computation();
    }
    if (module_.computations.empty()) cursor_.fail("has no computation", "give the text of an HLO module");
    if (!has_entry_) module_.entry = static_cast<std::uint32_t>(module_.computations.size() - 1);
    if (module_.name.empty()) module_.name = module_.computations[module_.entry].name;
    return std::move(module_);
  }

 private:
  void header() {
    module_.name = cursor_.name("the name of the module");
    while (cursor_.accept(",")) {
      const std::string_view key = cursor_.name("an attribute of the module");
      cursor_.expect("=");
      if (key == "input_output_alias") {
        module_.aliases = read_aliases(cursor_);
      } else if (key == "buffer_donor") {
        module_.donors = read_aliases(cursor_);
      } else if (key == "entry_computation_layout") {
        layouts();
      } else if (key == "replica_count") {
        module_.replicas = cursor_.integer(key);
      } else if (key == "num_partitions") {
        module_.partitions = cursor_.integer(key);
      } else if (key == "frontend_attributes") {
        module_.frontend = read_map(cursor_);
      } else {
        pass_value(cursor_);
      }
    }
  }

  void layouts() {
    cursor_.expect("{");
    cursor_.list("(", ")", [&] { module_.parameter_layouts.push_back(read_shape(cursor_)); });
    cursor_.expect("->");
    module_.result_layout = read_shape(cursor_);
    cursor_.expect("}");
  }

  /// One of the tables of source lines.
  bool section() {
    const std::string_view word = cursor_.peek_word();
    StackFrames& frames = module_.frames;
    if (word == "FileNames") return strings(frames.files), true;
    if (word == "FunctionNames") return strings(frames.functions), true;
    if (word == "FileLocations") return rows({"file_name_id", "function_name_id", "line", "column"}, frames.locations);
    if (word == "StackFrames") return rows({"file_location_id", "parent_frame_id"}, frames.frames);
    return false;
  }

  void strings(std::vector<std::string>& out) {
    cursor_.name("a table");
    while (cursor_.peek() >= '0' && cursor_.peek() <= '9') {
      cursor_.integer("a number");
      out.push_back(cursor_.quoted("a name"));
    }
  }

  bool rows(const std::vector<std::string_view>& keys, Rows& out) {
    cursor_.name("a table");
    while (cursor_.peek() >= '0' && cursor_.peek() <= '9') {
      cursor_.integer("a number");
      Ints row(keys.size());
      cursor_.expect("{");
      while (cursor_.peek() != '}') {
        const std::string_view key = cursor_.name("a column");
        cursor_.expect("=");
        const std::int64_t value = cursor_.integer(key);
        if (const auto at = std::ranges::find(keys, key); at != keys.end())
          row[static_cast<std::size_t>(at - keys.begin())] = value;
      }
      cursor_.expect("}");
      out.push_back(std::move(row));
    }
    return true;
  }

  void computation() {
    const bool entry = cursor_.accept("ENTRY");
    Computation made;
    const std::string_view name = cursor_.name("a computation");
    made.name = name;
    if (cursor_.peek() == '(') {
      cursor_.balanced('(', ')');
      cursor_.expect("->");
      read_shape(cursor_);
    }
    cursor_.expect("{");
    names_.clear();
    std::optional<std::uint32_t> root;
    while (cursor_.peek() != '}') {
      const std::size_t begin = cursor_.position();
      const bool is_root = cursor_.accept("ROOT") && cursor_.peek() != '=';
      if (!is_root) cursor_.return_to(begin);
      if (is_root) root = static_cast<std::uint32_t>(made.instructions.size());
      instruction(made);
    }
    cursor_.expect("}");
    if (made.instructions.empty()) cursor_.fail("a computation has no instructions", "give it a root");
    made.root = root.value_or(static_cast<std::uint32_t>(made.instructions.size() - 1));
    while (cursor_.accept(",")) pass_attribute();
    if (!computations_.emplace(name, static_cast<std::uint32_t>(module_.computations.size())).second)
      cursor_.fail(fmt::format("computation {} exists already", name), "choose another name");
    if (entry) module_.entry = static_cast<std::uint32_t>(module_.computations.size());
    if (entry && has_entry_) cursor_.fail("has two ENTRY computations", "leave one");
    has_entry_ = has_entry_ || entry;
    module_.computations.push_back(std::move(made));
  }

  void pass_attribute() {
    cursor_.name("an attribute");
    cursor_.expect("=");
    pass_value(cursor_);
  }

  void instruction(Computation& into) {
    Instruction made;
    made.line = cursor_.line();
    const std::string_view name = cursor_.name("an instruction");
    made.name = name;
    cursor_.expect("=");
    made.shape = read_shape(cursor_);
    made.opcode = cursor_.name("an opcode");
    cursor_.expect("(");
    if (made.opcode == "parameter") {
      add(made, *form_named("parameter_number", made.opcode), cursor_.integer("the number of the parameter"));
    } else if (made.opcode == "constant") {
      made.literal = read_literal(cursor_, made.shape);
    } else {
      operands(made);
    }
    cursor_.expect(")");
    while (cursor_.accept(",")) attribute(made);
    order_called(made);
    const auto number = static_cast<std::uint32_t>(into.instructions.size());
    if (!names_.emplace(name, number).second)
      cursor_.fail(fmt::format("{} exists already in this computation", name), "choose another name");
    into.instructions.push_back(std::move(made));
  }

  void operands(Instruction& made) {
    while (cursor_.peek() != ')') {
      // The long form has each operand's type in front of its name.
      if (cursor_.peek() != '%') {
        const std::size_t begin = cursor_.position();
        const bool tuple = cursor_.peek() == '(';
        if (!tuple) cursor_.name("an operand");
        const bool typed = tuple || cursor_.here() == '[' || cursor_.peek() == '%';
        cursor_.return_to(begin);
        if (typed) read_shape(cursor_);
      }
      made.operands.push_back(operand());
      if (!cursor_.accept(",")) break;
    }
  }

  std::uint32_t operand() {
    const std::string_view name = cursor_.name("an operand");
    const auto found = names_.find(name);
    if (found != names_.end()) return found->second;
    cursor_.fail(fmt::format("no instruction {} comes before this one in its computation", name),
                 "put each instruction after its operands");
  }

  std::uint32_t called() {
    const std::string_view name = cursor_.name("a computation");
    const auto found = computations_.find(name);
    if (found != computations_.end()) return found->second;
    cursor_.fail(fmt::format("no computation {} comes before this one", name),
                 "put each computation after those that it calls; none may call itself");
  }

  std::vector<std::uint32_t> called_list() {
    if (cursor_.peek() != '{') return {called()};
    std::vector<std::uint32_t> out;
    cursor_.list("{", "}", [&] { out.push_back(called()); });
    return out;
  }

  void attribute(Instruction& made) {
    const std::string_view key = cursor_.name("an attribute");
    cursor_.expect("=");
    const Form* form = form_named(key, made.opcode);
    if (names_computations(key)) {
      calls_.emplace_back(key, called_list());
    } else if (key == "metadata") {
      made.metadata = read_metadata(cursor_);
    } else if (key == "control-predecessors") {
      cursor_.list("{", "}", [&] { made.control.push_back(operand()); });
    } else if (form) {
      add(made, *form, read_value(cursor_, *form));
      if (key == "operand_layout_constraints") add(made, *form_named("constrain_layout", made.opcode), std::int64_t{1});
    } else if (is_passed_over(key)) {
      pass_value(cursor_);
    } else {
      unknown(key, made);
    }
  }

  [[noreturn]] void unknown(std::string_view key, const Instruction& made) {
    std::vector<std::string> names;
    for (const Form& form : all_forms()) names.emplace_back(form.name);
    cursor_.fail(fmt::format("{} has no attribute \"{}\"", made.opcode, key), base::suggest_fix(key, names));
  }

  /// Called computations as the proto lists them: a loop's body before its condition.
  void order_called(Instruction& made) {
    const auto rank = [](std::string_view key) { return key == "condition" || key == "scatter" ? 1 : 0; };
    std::ranges::stable_sort(calls_, {}, [&](const auto& entry) { return rank(entry.first); });
    for (const auto& [key, list] : calls_) made.called.insert(made.called.end(), list.begin(), list.end());
    calls_.clear();
  }

  Cursor cursor_;
  Module module_;
  bool has_entry_ = false;
  NameTable names_;                                                             // of the computation that is read
  NameTable computations_;                                                      // read before
  std::vector<std::pair<std::string_view, std::vector<std::uint32_t>>> calls_;  // of the instruction that is read
};

}  // namespace

Module read_text(std::string_view text, std::string_view file) {
  require_readable(text, file);
  return TextReader{text, file}.read();
}

}  // namespace trnsim::frontend::hlo
