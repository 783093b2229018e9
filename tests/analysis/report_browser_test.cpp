// The report in a real browser, where one is installed: no error, tables sort, nothing is wider than a phone.
#include <gmock/gmock.h>

#include <cstdlib>
#include <fstream>
#include <iterator>

#include "analysis/report.h"
#include "analysis/result.h"
#include "base/files.h"
#include "tests/analysis/recorded.h"

namespace {

using testing::HasSubstr;

/// Sorts each table by its second column, both ways, and tells in the title what is wrong.
constexpr const char* kProbe = R"js(<script>
var wrong = window.failures || [];
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
document.querySelectorAll("svg:not([aria-label])").forEach(function () { wrong.push("no label"); });
if (document.documentElement.scrollWidth > window.innerWidth + 1) wrong.push("wider than the window");
document.title = tables.length + " tables, wrong: " + (wrong.join(", ") || "nothing");
</script></body>)js";

TEST(ReportInABrowser, HasNoErrorAndItsTablesSort) {
  if (std::system("command -v chromium >/dev/null 2>&1") != 0) GTEST_SKIP() << "chromium is not installed";
  const auto folder = recorded::folder();
  write_record(folder, recorded::record(false));
  analysis::write_result(
      folder, {{"job", {{"train_runtime", 510.0}, {"train_steps_per_second", 6.0}, {"device_step_seconds", 0.1}}}});
  const std::vector<analysis::ReportRun> runs{load_report_run(folder, analysis::load_prices(std::string_view{}), 0.4)};
  std::string page = report_html(runs);
  page.replace(page.find("<style>"), 0,
               "<script>window.failures=[];window.onerror=function(m){window.failures.push(m)}</script>");
  page.replace(page.find("</body>"), 7, kProbe);
  base::write_file(folder / "probe.html", page);
  const std::string dom = (folder / "dom.html").string();
  const std::string command = "chromium --headless --no-sandbox --disable-gpu --window-size=390,844 --user-data-dir=" +
                              (folder / "profile").string() + " --dump-dom file://" + (folder / "probe.html").string() +
                              " >" + dom + " 2>/dev/null";
  ASSERT_EQ(std::system(command.c_str()), 0);
  EXPECT_THAT(base::read_file(dom), HasSubstr("tables, wrong: nothing</title>"));
  std::filesystem::remove_all(folder / "profile");
}

}  // namespace
