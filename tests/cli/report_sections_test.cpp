// The report of real jobs in a browser: every section is there and filled. TRNSIM_SCREENSHOTS=FOLDER keeps pictures;
// TRNSIM_AXE=FILE is axe.min.js of the npm package axe-core, and then the page must be free of what it finds.
#include <gmock/gmock.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>

#include "base/files.h"
#include "tests/browser.h"
#include "tests/cli/run_binary.h"

namespace {

using cli_test::run;
using testing::HasSubstr;
using testing::Not;

/// Says in the title which sections there are, which have neither a table with rows nor a chart nor a sentence, which
/// charts show nothing, which sections say that they are empty, how high the page is, and what axe finds if it is
/// there.
constexpr const char* kSectionsProbe = R"js(<script>
var names = [], empty = [], none = [];
document.querySelectorAll("section").forEach(function (s) {
  var name = s.id.replace(/^r\d+-/, "");
  names.push(name);
  var rows = s.querySelectorAll("tbody tr").length;
  var marks = s.querySelectorAll("svg rect, svg path, svg circle, svg polyline, svg polygon").length;
  var words = s.textContent.trim().split(/\s+/).length - s.querySelector("h2").textContent.trim().split(/\s+/).length;
  if (rows === 0 && marks === 0 && words < 5) empty.push(name);
  if (s.querySelector(".none")) none.push(name);
  s.querySelectorAll("svg").forEach(function (chart) {
    var lines = chart.querySelectorAll("path.line");
    var drawn = Array.prototype.some.call(lines, function (l) { return l.getAttribute("d").length > 20; });
    if (!drawn && !chart.querySelector(".heat, .area, .mark")) empty.push(chart.getAttribute("aria-label"));
  });
});
var wide = document.documentElement.scrollWidth > window.innerWidth + 1;
var text = "sections " + names.join(" ") + "; empty " + (empty.join(" ") || "no") + "; says none " +
  (none.join(" ") || "no") + (wide ? "; wider than the window" : "");
var height = "; height " + document.documentElement.scrollHeight;
document.title = text + "; axe was not asked" + height;
if (window.axe) {
  document.title = text + "; axe is at work" + height;
  window.axe.run(document, {runOnly: ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa"]}).then(function (result) {
    var found = result.violations.map(function (v) { return v.id + " x" + v.nodes.length; });
    document.title = text + "; axe finds " + (found.join(" ") || "nothing") + " in " + result.passes.length +
      " rules" + height;
  });
}
</script></body>)js";

constexpr const char* kAllSections =
    "sections summary warnings time engines roofline memory collectives training cost machine;";

class ReportSections : public testing::Test {
 protected:
  void SetUp() override {
    if (!browser::installed()) GTEST_SKIP() << "chromium is not installed: ./dev test installs it";
    std::filesystem::create_directories(folder_);
  }
  void TearDown() override { std::filesystem::remove_all(folder_); }

  /// Runs the job, opens its report, and returns what the probe says; pictures on request.
  std::string shown(const std::string& name, const std::string& arguments) const {
    const std::filesystem::path job = folder_ / name, page = folder_ / "probe.html";
    const auto ran = run("run " + arguments + " --output_dir " + job.string());
    EXPECT_EQ(ran.code, 0) << ran.err;
    EXPECT_EQ(run("report " + job.string()).code, 0);
    const std::string report = base::read_file(job / "report.html");
    std::string probe = report;
    const char* axe = std::getenv("TRNSIM_AXE");
    probe.replace(probe.rfind("</body>"), 7,
                  (axe ? "<script>" + base::read_file(axe) + "</script>" : "") + kSectionsProbe);
    base::write_file(page, probe);
    const std::string title = browser::title(page, "1280,900", axe ? "--virtual-time-budget=60000" : "");
    EXPECT_TRUE(!axe || title.find("axe finds nothing") != std::string::npos) << title;
    if (const char* to = std::getenv("TRNSIM_SCREENSHOTS")) {
      std::filesystem::create_directories(to);
      base::write_file(page, report);
      const std::string height = title.substr(title.rfind(' ') + 1);
      EXPECT_TRUE(browser::picture(page, "1280," + height, std::filesystem::path{to} / (name + ".png")));
      EXPECT_TRUE(browser::picture(page, "390,844", std::filesystem::path{to} / (name + "_phone.png")));
    }
    return title;
  }
  const std::filesystem::path folder_ =
      std::filesystem::path{testing::TempDir()} / ("report_sections_" + std::to_string(getpid()));
};

// Two epochs, so that scores have a curve; few samples, as what is looked at is the page.
TEST_F(ReportSections, OfAJobThatTrainsAreAllFilled) {
  const std::string title = shown("bert_emotion",
                                  "bert_emotion --max_train_samples 128 --max_eval_samples 64 --num_train_epochs 2 "
                                  "--logging_steps 1");
  EXPECT_THAT(title, HasSubstr(kAllSections));
  EXPECT_THAT(title, HasSubstr("empty no; says none no;"));
  EXPECT_THAT(title, Not(HasSubstr("wider")));
}

// 32 cores, projected: only the curves of a training have nothing to show.
TEST_F(ReportSections, OfALlamaOn32CoresAreAllFilledButTheCurves) {
  const std::string title = shown("llama2_7b_dolly", "llama2_7b_dolly --mode timed");
  EXPECT_THAT(title, HasSubstr(kAllSections));
  EXPECT_THAT(title, HasSubstr("empty no; says none training;"));
  EXPECT_THAT(base::read_file(folder_ / "llama2_7b_dolly/report.html"), HasSubstr("core 31 as 0"));
  EXPECT_THAT(title, Not(HasSubstr("wider")));
}

}  // namespace
