#include "analysis/report/report_parts.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <variant>

#include "analysis/report/chart.h"
#include "base/hash.h"
#include "base/text.h"

namespace analysis {
namespace {

using base::Align;
using base::Cell;

/// Plain value for sorting and for tests; nothing for text.
std::string sort_value(const Cell& cell) {
  if (const auto* real = std::get_if<double>(&cell.value))
    return std::isfinite(*real) ? fmt::format(" data-v=\"{}\"", *real) : " data-v=\"\"";
  if (const auto* whole = std::get_if<std::int64_t>(&cell.value)) return fmt::format(" data-v=\"{}\"", *whole);
  if (const auto* flag = std::get_if<bool>(&cell.value)) return fmt::format(" data-v=\"{:d}\"", *flag);
  return std::holds_alternative<std::monostate>(cell.value) ? " data-v=\"\"" : "";
}

std::string cell_text(const Cell& cell) {
  if (!cell.text.empty()) return cell.text;
  if (const auto* text = std::get_if<std::string>(&cell.value)) return *text;
  if (const auto* real = std::get_if<double>(&cell.value))
    return std::isfinite(*real) ? fmt::format("{:.6g}", *real) : "";
  if (const auto* whole = std::get_if<std::int64_t>(&cell.value)) return fmt::format("{}", *whole);
  if (const auto* flag = std::get_if<bool>(&cell.value)) return *flag ? "yes" : "no";
  return "";
}

std::string anchor(std::string_view prefix, std::string_view key) {
  return fmt::format("{}-{}", prefix, base::hash_text(base::hash64(key)));
}

/// A key such as "reserved_1y" in words, where it has no title.
std::string heading(const base::Column& column) {
  std::string text = column.title.empty() ? column.key : column.title;
  std::ranges::replace(text, '_', ' ');
  return text;
}

/// Whether a reader takes it in as one word, "torch-xla-2025", which its hyphens should not break.
bool is_word(std::string_view text) {
  constexpr std::size_t kLetters = 24;
  return !text.empty() && text.size() <= kLetters && text.find(' ') == text.npos;
}

}  // namespace

std::string table_html(std::string_view caption, const base::Table& table, const Links& links) {
  std::string out = fmt::format(
      "<div class=\"wide\" tabindex=\"0\" role=\"group\" aria-label=\"{}\"><table><caption>"
      "{}</caption><thead><tr>",
      escape(caption), escape(caption));
  const auto& columns = table.columns();
  const auto css = [&](std::size_t c) {
    return columns[c].align == Align::kRight ? std::string_view{" class=\"r\""} : "";
  };
  for (std::size_t c = 0; c < columns.size(); ++c)
    out += fmt::format("<th scope=\"col\"{}><button type=\"button\">{}</button></th>", css(c),
                       escape(heading(columns[c])));
  out += "</tr></thead><tbody>\n";
  for (const auto& row : table.cells()) {
    const std::string key = cell_text(row.front());
    out += links.target.empty() ? "<tr>" : fmt::format("<tr id=\"{}\">", anchor(links.target, key));
    for (std::size_t c = 0; c < row.size(); ++c) {
      const std::string text = escape(cell_text(row[c]));
      const bool link = c == 0 && !links.to.empty();
      out += fmt::format("<td{}{}>{}</td>", css(c).empty() && is_word(text) ? " class=\"word\"" : css(c),
                         sort_value(row[c]),
                         link ? fmt::format("<a href=\"#{}\">{}</a>", anchor(links.to, key), text) : text);
    }
    out += "</tr>\n";
  }
  return out + "</tbody></table></div>\n";
}

std::string folded(std::string_view caption, const base::Table& table, const Links& links) {
  return fmt::format("<details><summary>Table: {}</summary>{}</details>\n", escape(caption),
                     table_html(caption, table, links));
}

std::string command_html(std::string_view text) {
  std::string out;
  for (const std::string_view word : base::split(text, ' ')) {
    const std::string_view form = word.starts_with("--") ? "{}<span class=\"flag\">{}</span>" : "{}{}";
    out += fmt::format(fmt::runtime(form), out.empty() ? "" : " ", escape(word));
  }
  return out;
}

std::string bars_html(std::string_view label, const std::vector<Bar>& bars) {
  double most = 0;
  for (const Bar& bar : bars) most = std::max(most, bar.value);
  if (!(most > 0)) return "";
  std::string out = fmt::format("<figure><figcaption>{}</figcaption><ul class=\"bars\">", escape(label));
  for (const Bar& bar : bars)
    out += fmt::format(
        "<li{}><span class=\"name\">{}</span><span class=\"track\"><span style=\"width:{:.2f}%\"></span></span>"
        "<span class=\"text\">{}</span></li>",
        bar.css.empty() ? "" : fmt::format(" class=\"{}\"", bar.css), command_html(bar.name),
        std::max(0.0, bar.value) / most * 100, escape(bar.text));
  return out + "</ul></figure>\n";
}

std::string section(std::string_view id, std::string_view title, const std::string& body) {
  return fmt::format("<section id=\"{}\"><h2>{}</h2>\n{}</section>\n", id, escape(title), body);
}

}  // namespace analysis
