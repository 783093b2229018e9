// The braces of a source: where its functions begin and end, and which variables outlive them.
#pragma once

#include <algorithm>
#include <cctype>
#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "base/pattern.h"
#include "tests/base/source_text.h"

namespace base {

struct FoundFunction {
  std::string head;                 // "void f(int a)"
  std::size_t first = 0, last = 0;  // lines
  std::size_t parameters = 0;

  std::size_t lines() const { return last - first + 1; }
};

struct FoundClass {
  std::string head;                 // "class C : public B"
  std::size_t first = 0, last = 0;  // lines
  std::size_t members = 0;          // variables that each object has
  std::size_t virtuals = 0;         // functions, without the destructor

  std::size_t lines() const { return last - first + 1; }
};

struct FoundVariable {
  std::string text;
  std::size_t line = 0;
};

/// Walks over the code of a source, with a stack of the owners of open braces.
class Scopes {
 public:
  explicit Scopes(const Source& source) : code_{source.code} {
    open_.push_back({Kind::kNamespace, 0, 0, 0});
    for (at_ = 0; at_ < code_.size(); ++at_) step(code_[at_]);
  }

  std::vector<FoundFunction> functions;
  std::vector<FoundClass> classes;
  std::vector<FoundVariable> globals;  // mutable ones: of a namespace, static, of a thread

 private:
  enum class Kind { kNamespace, kClass, kFunction, kBlock, kValue };
  struct Scope {
    Kind kind;
    std::size_t head;    // where the text before the brace begins
    int parens;          // open before the brace
    std::size_t resume;  // of the statement around a value: where it began
    std::size_t parameters = 0, members = 0, virtuals = 0;
  };

  void step(char c) {
    if (c == '(' || c == '[') ++parens_;
    if (c == ')' || c == ']') --parens_;
    if (c == '{') enter();
    if (c == '}' && open_.size() > 1) leave();
    if (c == ';' && parens_ == 0) {
      const std::string text = statement();
      judge(text);
      if (open_.back().kind == Kind::kClass) count_member(text);
      begin_ = at_ + 1;
    }
  }

  bool in_function() const {
    const Kind kind = open_.back().kind;
    return kind != Kind::kNamespace && kind != Kind::kClass;
  }

  void enter() {
    const std::string head = statement();
    const Kind kind = kind_of(head);
    if (kind == Kind::kFunction && open_.back().kind == Kind::kClass) open_.back().virtuals += is_virtual(head);
    open_.push_back({kind, begin_ + blanks_, parens_, begin_});
    if (kind == Kind::kFunction) open_.back().parameters = parameters_in(code_.substr(begin_, at_ - begin_));
    parens_ = 0;
    begin_ = at_ + 1;
  }

  void leave() {
    const Scope scope = open_.back();
    open_.pop_back();
    parens_ = scope.parens;
    begin_ = scope.kind == Kind::kValue ? scope.resume : at_ + 1;
    if (scope.kind != Kind::kFunction && scope.kind != Kind::kClass) return;
    const std::string head{code_.substr(scope.head, code_.find_first_of("{\n", scope.head) - scope.head)};
    const std::size_t first = line_at(code_, scope.head), last = line_at(code_, at_);
    if (scope.kind == Kind::kFunction)
      functions.push_back({head, first, last, scope.parameters});
    else
      classes.push_back({head, first, last, scope.members, scope.virtuals});
  }

  static bool is_virtual(const std::string& text) {
    return text.starts_with("virtual ") && text.find('~') == std::string::npos;
  }

  /// The parameters in the first brackets behind a name that are not template arguments.
  static std::size_t parameters_in(std::string_view head) {
    const std::string outer = without(head, '<', '>');
    std::size_t open = outer.find('(');
    if (outer.substr(0, open).ends_with("operator")) open = outer.find('(', open + 1);
    int depth = 0;
    std::size_t commas = 0, letters = 0;
    for (std::size_t i = open; i < outer.size(); ++i) {
      if (outer[i] == '(' || outer[i] == '{' || outer[i] == '[') ++depth;
      if (outer[i] == ')' || outer[i] == '}' || outer[i] == ']') --depth;
      if (depth == 0) break;
      commas += depth == 1 && outer[i] == ',';
      letters += std::isalpha(static_cast<unsigned char>(outer[i])) != 0;
    }
    return letters == 0 ? 0 : commas + 1;
  }

  /// Counts the statement before a semicolon as a member of a class.
  void count_member(const std::string& text) {
    static const Pattern kNone{
        R"(^\s*$|^\s*(using|typedef|template|static_assert|static|friend|class|struct|enum|union)\b)"};
    const std::string plain = without(text, '{', '}');
    if (plain.substr(0, plain.find('=')).find('(') != std::string::npos) {
      open_.back().virtuals += is_virtual(text);
    } else if (!kNone.search(plain)) {
      open_.back().members += 1 + static_cast<std::size_t>(std::ranges::count(plain, ','));
    }
  }

  /// The text since the last statement, on one line, without attributes, access labels and the contents of <> and ().
  std::string statement() {
    std::string text{code_.substr(begin_, at_ - begin_)};
    static const Pattern kLabel{R"(^\s*((public|private|protected)\s*:)?\s*)"};
    blanks_ = kLabel.search(text)->size();
    text = without(without(text.substr(blanks_), '(', ')'), '[', ']');
    std::ranges::replace(text, '\n', ' ');
    return without(text, '<', '>');
  }

  /// Keeps the brackets and drops their contents; "a < b" and "->" are not brackets.
  static std::string without(std::string_view text, char open, char close) {
    std::string out;
    int depth = 0;
    for (std::size_t i = 0; i < text.size(); ++i) {
      const bool arrow = text[i] == '>' && i > 0 && text[i - 1] == '-';
      const bool less = text[i] == '<' && is_less(out, i == 0 || text[i - 1] == ' ');
      if (text[i] == close && !arrow && depth > 0) --depth;
      if (depth == 0) out += text[i];
      if (text[i] == open && !less) ++depth;
    }
    return out;
  }

  Kind kind_of(const std::string& head) const {
    if (parens_ > 0) return Kind::kValue;  // a lambda or a list among arguments
    if (in_function()) return is_block(head) ? Kind::kBlock : Kind::kValue;
    static const Pattern kNamespaces{R"(^(inline )?namespace\b|^extern ")"};
    static const Pattern kClasses{
        R"(^(template <>\s*(requires [^{]*)?)?(typedef )?(class|struct|union|enum)\b[^=()]*$)"};
    if (kNamespaces.search(head)) return Kind::kNamespace;
    if (kClasses.search(head)) return Kind::kClass;
    return is_function(head) ? Kind::kFunction : Kind::kValue;
  }

  /// Whether a "<" after this text means "less".
  static bool is_less(std::string_view before, bool behind_blank) {
    if (before.ends_with("operator") || before.ends_with("operator<")) return true;
    return behind_blank && !before.ends_with("template ");
  }

  static bool is_block(const std::string& head) {
    static const Pattern kBlocks{
        R"(^\s*$|\belse\s*$|^(else )?(if|for|while|switch|do|try|catch)\b|^(case\b.*|default|\w+):\s*$)"};
    return kBlocks.search(head).has_value();
  }

  /// A body follows its parameters, their qualifiers, or the last member initializer.
  static bool is_function(const std::string& head) {
    static const Pattern kOperator{R"(\boperator\b)"};
    static const Pattern kBehind{
        R"(\)\s*((const|noexcept|override|final|mutable|&|&&|try|requires .*|->.*)\s*(\(\))?\s*)*$)"};
    static const Pattern kMembers{R"(\)\s*(noexcept\s*)?:[^:].*[)}]\s*$)"};
    if (head.find('=') != std::string::npos && !kOperator.search(head)) return false;
    return kBehind.search(head) || kMembers.search(head);
  }

  /// Remembers the statement when it makes a variable that outlives its function and may change.
  void judge(const std::string& text) {
    static const Pattern kLongLived{R"(^(\[\[\]\]\s*)?((inline|constinit)\s+)*(static|thread_local)\b)"};
    if (open_.back().kind != Kind::kNamespace && !kLongLived.search(text)) return;
    static const Pattern kNoVariable{
        R"(^\s*$|^(using|typedef|template|static_assert|friend|extern|namespace|class|struct|enum|union|return)\b)"};
    static const Pattern kConstant{R"(\bconstexpr\b|\bconst\b(?![^={]*\*\s*\w+\s*(=|\{|$)))"};
    if (kNoVariable.search(text) || kConstant.search(text)) return;
    if (text.substr(0, text.find_first_of("={")).find('(') != std::string::npos) return;  // declares a function
    globals.push_back({text, line_at(code_, begin_ + blanks_)});
  }

  std::string_view code_;
  std::vector<Scope> open_;
  std::size_t at_ = 0, begin_ = 0, blanks_ = 0;
  int parens_ = 0;
};

}  // namespace base
