// The braces of a source: where its functions begin and end, and which variables outlive them.
#pragma once

#include <cstddef>
#include <regex>
#include <string>
#include <string_view>
#include <vector>

#include "tests/base/source_text.h"

namespace base {

struct FoundFunction {
  std::string head;                 // "void f(int a)"
  std::size_t first = 0, last = 0;  // lines

  std::size_t lines() const { return last - first + 1; }
};

struct FoundVariable {
  std::string text;
  std::size_t line = 0;
};

/// Walks over the code of a source, with a stack of what the open braces belong to.
class Scopes {
 public:
  explicit Scopes(const Source& source) : code_{source.code} {
    open_.push_back({Kind::kNamespace, 0, 0, 0});
    for (at_ = 0; at_ < code_.size(); ++at_) step(code_[at_]);
  }

  std::vector<FoundFunction> functions;
  std::vector<FoundVariable> globals;  // mutable ones: of a namespace, static, of a thread

 private:
  enum class Kind { kNamespace, kClass, kFunction, kBlock, kValue };
  struct Scope {
    Kind kind;
    std::size_t head;    // where the text before the brace begins
    int parens;          // open before the brace
    std::size_t resume;  // of the statement around a value: where it began
  };

  void step(char c) {
    if (c == '(' || c == '[') ++parens_;
    if (c == ')' || c == ']') --parens_;
    if (c == '{') enter();
    if (c == '}' && open_.size() > 1) leave();
    if (c == ';' && parens_ == 0) {
      judge(statement());
      begin_ = at_ + 1;
    }
  }

  bool in_function() const {
    const Kind kind = open_.back().kind;
    return kind != Kind::kNamespace && kind != Kind::kClass;
  }

  void enter() {
    const Kind kind = kind_of(statement());
    open_.push_back({kind, begin_ + blanks_, parens_, begin_});
    parens_ = 0;
    begin_ = at_ + 1;
  }

  void leave() {
    const Scope scope = open_.back();
    open_.pop_back();
    parens_ = scope.parens;
    begin_ = scope.kind == Kind::kValue ? scope.resume : at_ + 1;
    if (scope.kind != Kind::kFunction) return;
    const std::string head{code_.substr(scope.head, code_.find_first_of("{\n", scope.head) - scope.head)};
    functions.push_back({head, line_at(code_, scope.head), line_at(code_, at_)});
  }

  /// The text since the last statement, on one line, without attributes, labels of access and what is in <> and ().
  std::string statement() {
    std::string text{code_.substr(begin_, at_ - begin_)};
    static const std::regex kLabel{R"(^\s*((public|private|protected)\s*:)?\s*)"};
    std::smatch label;
    std::regex_search(text, label, kLabel);
    blanks_ = static_cast<std::size_t>(label.length());
    text = without(without(text.substr(blanks_), '(', ')'), '[', ']');
    std::ranges::replace(text, '\n', ' ');
    return without(text, '<', '>');
  }

  /// Keeps the brackets and drops what is in them; "a < b" and "->" are no brackets.
  static std::string without(std::string_view text, char open, char close) {
    std::string out;
    int depth = 0;
    for (std::size_t i = 0; i < text.size(); ++i) {
      const bool arrow = text[i] == '>' && i > 0 && text[i - 1] == '-';
      const bool named = out.ends_with("operator") || out.ends_with("operator<");
      const bool less = text[i] == '<' && (named || ((i == 0 || text[i - 1] == ' ') && !out.ends_with("template ")));
      if (text[i] == close && !arrow && depth > 0) --depth;
      if (depth == 0) out += text[i];
      if (text[i] == open && !less) ++depth;
    }
    return out;
  }

  static bool has(const std::string& text, const char* pattern) { return std::regex_search(text, std::regex{pattern}); }

  Kind kind_of(const std::string& head) const {
    if (parens_ > 0) return Kind::kValue;  // a lambda or a list among arguments
    if (in_function()) return is_block(head) ? Kind::kBlock : Kind::kValue;
    static const std::regex kNamespaces{R"(^(inline )?namespace\b|^extern ")"};
    static const std::regex kClasses{
        R"(^(template <>\s*(requires [^{]*)?)?(typedef )?(class|struct|union|enum)\b[^=()]*$)"};
    if (std::regex_search(head, kNamespaces)) return Kind::kNamespace;
    if (std::regex_search(head, kClasses)) return Kind::kClass;
    return is_function(head) ? Kind::kFunction : Kind::kValue;
  }

  static bool is_block(const std::string& head) {
    static const std::regex kBlocks{
        R"(^\s*$|\belse\s*$|^(else )?(if|for|while|switch|do|try|catch)\b|^(case\b.*|default|\w+):\s*$)"};
    return std::regex_search(head, kBlocks);
  }

  /// A body follows its parameters, what may stand behind them, or the last of the members that it sets.
  static bool is_function(const std::string& head) {
    static const std::regex kOperator{R"(\boperator\b)"};
    static const std::regex kBehind{
        R"(\)\s*((const|noexcept|override|final|mutable|&|&&|try|requires .*|->.*)\s*(\(\))?\s*)*$)"};
    static const std::regex kMembers{R"(\)\s*(noexcept\s*)?:[^:].*[)}]\s*$)"};
    if (head.find('=') != std::string::npos && !std::regex_search(head, kOperator)) return false;
    return std::regex_search(head, kBehind) || std::regex_search(head, kMembers);
  }

  /// Remembers the statement when it makes a variable that outlives its function and may change.
  void judge(const std::string& text) {
    static const std::regex kLongLived{R"(^(\[\[\]\]\s*)?((inline|constinit)\s+)*(static|thread_local)\b)"};
    if (open_.back().kind != Kind::kNamespace && !std::regex_search(text, kLongLived)) return;
    static const std::regex kNoVariable{
        R"(^\s*$|^(using|typedef|template|static_assert|friend|extern|namespace|class|struct|enum|union|return)\b)"};
    static const std::regex kConstant{R"(\bconstexpr\b|\bconst\b(?![^={]*\*\s*\w+\s*(=|\{|$)))"};
    if (std::regex_search(text, kNoVariable) || std::regex_search(text, kConstant)) return;
    if (text.substr(0, text.find_first_of("={")).find('(') != std::string::npos) return;  // declares a function
    globals.push_back({text, line_at(code_, begin_ + blanks_)});
  }

  std::string_view code_;
  std::vector<Scope> open_;
  std::size_t at_ = 0, begin_ = 0, blanks_ = 0;
  int parens_ = 0;
};

}  // namespace base
