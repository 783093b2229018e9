// The report in a real browser, where one is installed, in light and dark: no error, nothing is wider than a phone.
#include <gmock/gmock.h>

#include <cstdlib>
#include <fstream>
#include <iterator>
#include <nlohmann/json.hpp>

#include "analysis/record/result.h"
#include "analysis/report/report.h"
#include "base/files.h"
#include "tests/analysis/recorded.h"
#include "tests/browser.h"

namespace {

using testing::HasSubstr;
using Ordered = nlohmann::ordered_json;

/// Sorts each table by its second column, both ways; looks at the contrast of every text (WCAG 2.1, 1.4.3), at labels,
/// and at the numbers of the cards; tells in the title what is wrong.
constexpr const char* kProbe = R"js(<script>
var wrong = window.failures;
function column(table) {
  return Array.prototype.map.call(table.tBodies[0].rows, function (row) {
    var v = row.cells[1].getAttribute("data-v");
    return v === null ? row.cells[1].textContent : v === "" ? -Infinity : Number(v);
  });
}
function ordered(list, sign) {
  return list.every(function (v, i) { return i === 0 || (sign > 0 ? list[i - 1] <= v : list[i - 1] >= v); });
}
var tables = document.querySelectorAll("table");
tables.forEach(function (table) {
  var button = table.querySelectorAll("th button")[1], head = button.parentElement;
  button.click();
  if (!ordered(column(table), -1)) wrong.push("down " + table.caption.textContent);
  if (head.getAttribute("aria-sort") !== "descending") wrong.push("unsaid " + table.caption.textContent);
  button.click();
  if (!ordered(column(table), 1)) wrong.push("up " + table.caption.textContent);
});

function colour(text) { return (text.match(/[\d.]+/g) || []).map(Number); }
function opaque(c) { return c.length === 3 || c[3] === 1; }
function luminance(c) {
  var s = c.slice(0, 3).map(function (v) {
    v /= 255;
    return v <= 0.03928 ? v / 12.92 : Math.pow((v + 0.055) / 1.055, 2.4);
  });
  return 0.2126 * s[0] + 0.7152 * s[1] + 0.0722 * s[2];
}
function behind(element) {
  for (var e = element; e; e = e.parentElement) {
    var c = colour(getComputedStyle(e).backgroundColor);
    if (c.length > 0 && opaque(c)) return c;
  }
  return [255, 255, 255];
}
var texts = 0;
document.querySelectorAll("main *").forEach(function (e) {
  var own = Array.prototype.some.call(e.childNodes, function (n) { return n.nodeType === 3 && n.data.trim() !== ""; });
  if (!own || e.tagName === "title" || e.tagName === "SCRIPT" || e.getClientRects().length === 0) return;
  var style = getComputedStyle(e), size = parseFloat(style.fontSize);
  var c = colour(e instanceof SVGElement ? style.fill : style.color), a = luminance(c), b = luminance(behind(e));
  var ratio = (Math.max(a, b) + 0.05) / (Math.min(a, b) + 0.05);
  var needed = size >= 24 || (size >= 18.66 && Number(style.fontWeight) >= 700) ? 3 : 4.5;
  ++texts;
  if (!(ratio >= needed)) wrong.push("contrast " + ratio.toFixed(2) + " of " + e.textContent.trim());
});

document.querySelectorAll("svg:not([aria-label]), nav:not([aria-label])").forEach(function (e) {
  wrong.push("no label: " + e.tagName);
});
document.querySelectorAll("a, button, th, caption, h1, h2, h3").forEach(function (e) {
  if (e.textContent.trim() === "") wrong.push("empty " + e.tagName);
});
document.querySelectorAll("a[href^='#']").forEach(function (e) {
  if (!document.getElementById(e.getAttribute("href").slice(1))) wrong.push("leads nowhere: " + e.textContent);
});
var seen = {};
document.querySelectorAll("[id]").forEach(function (e) {
  if (seen[e.id]) wrong.push("twice " + e.id);
  seen[e.id] = true;
});
if (document.documentElement.lang !== "en" || document.querySelectorAll("main").length !== 1) wrong.push("no landmark");
if (document.documentElement.scrollWidth > window.innerWidth + 1) wrong.push("wider than the window");

var cards = {};
document.querySelectorAll(".card").forEach(function (card) {
  cards[card.querySelector("dt").textContent] = Number(card.querySelector("dd").getAttribute("data-v"));
});
Object.keys(window.expected).forEach(function (name) {
  if (cards[name] !== window.expected[name]) wrong.push(name + " is " + cards[name]);
});
document.querySelectorAll("section").forEach(function (s) { if (s.children.length < 2) wrong.push("empty " + s.id); });
document.title = (matchMedia("(prefers-color-scheme: dark)").matches ? "dark, " : "light, ") + tables.length +
  " tables, " + (texts > 200 ? "texts" : texts + " texts") + ", wrong: " + (wrong.join("; ") || "nothing");
</script></body>)js";

class ReportInABrowser : public testing::Test {
 protected:
  void SetUp() override {
    if (!browser::installed()) GTEST_SKIP() << "chromium is not installed: ./dev test installs it";
    const Ordered expected{
        {"training time", 510.25}, {"step", 0.12345}, {"samples/s", 94.062}, {"eval accuracy", 0.897}};
    write_record(folder_, recorded::record(false));
    Ordered epochs = Ordered::array();
    for (int e = 1; e <= 3; ++e)
      epochs.push_back({{"split", "eval"}, {"epoch", e}, {"accuracy", 0.8 + 0.03 * e}, {"f1_macro", 0.79 + 0.03 * e}});
    analysis::write_result(folder_, {{"job",
                                      {{"train_runtime", expected["training time"]},
                                       {"step_seconds", expected["step"]},
                                       {"train_samples_per_second", expected["samples/s"]},
                                       {"train_steps_per_second", 6.0},
                                       {"device_step_seconds", 0.1}}},
                                     {"metrics", {{"eval_accuracy", expected["eval accuracy"]}, {"epochs", epochs}}}});
    analysis::StepLog steps{folder_};
    for (int i = 1; i <= 50; ++i)
      steps.append({.step = i,
                    .epoch = {},
                    .loss = 2.0 / i,
                    .learning_rate = 1e-3 / i,
                    .grad_norm = 1.0 + i % 3,
                    .simulated_seconds = {},
                    .host_seconds = {}});
    const std::vector<analysis::ReportRun> runs{
        load_report_run(folder_, analysis::load_prices(std::string_view{}), analysis::kRooflineEfficiency)};
    std::string page = report_html(runs);
    page.replace(page.find("<style>"), 0,
                 "<script>window.expected=" + expected.dump() +
                     ";window.failures=[];window.onerror=function(m){window.failures.push(m)};"
                     "console.error=function(m){window.failures.push(m)}</script>");
    page.replace(page.find("</body>"), 7, kProbe);
    base::write_file(folder_ / "probe.html", page);
  }
  void TearDown() override { std::filesystem::remove_all(folder_); }

  /// The page after its scripts have run, as a phone shows it.
  std::string shown(const std::string& flags) const { return browser::title(folder_ / "probe.html", "390,844", flags); }
  const std::filesystem::path folder_ = recorded::folder();
};

TEST_F(ReportInABrowser, InLightItsTablesSortItsTextIsLegibleItsNumbersAreTheResult) {
  const std::string title = shown("--blink-settings=preferredColorScheme=1");
  EXPECT_THAT(title, HasSubstr("light, "));
  EXPECT_THAT(title, HasSubstr(" tables, texts, wrong: nothing"));
}

TEST_F(ReportInABrowser, InDarkToo) {
  const std::string title = shown("--blink-settings=preferredColorScheme=0");
  EXPECT_THAT(title, HasSubstr("dark, "));
  EXPECT_THAT(title, HasSubstr(" tables, texts, wrong: nothing"));
}

}  // namespace
