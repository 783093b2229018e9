#include "analysis/report/report.h"

#include <gmock/gmock.h>

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <fstream>
#include <nlohmann/json.hpp>
#include <regex>
#include <set>

#include "analysis/profile/memory_use.h"
#include "analysis/profile/views.h"
#include "analysis/record/result.h"
#include "analysis/report/chart.h"
#include "analysis/report/report_parts.h"
#include "base/error.h"
#include "tests/analysis/recorded.h"

namespace {

using analysis::ReportRun;
using testing::HasSubstr;
using testing::Not;

const analysis::Json& written_result() {
  static const analysis::Json result{
      {"job",
       {{"train_runtime", 510.0},
        {"train_steps_per_second", 3000 / 510.0},
        {"step_seconds", 0.17},
        {"device_step_seconds", 0.15},
        {"train_samples_per_second", 94.0},
        {"parts", {{{"name", "device <b>"}, {"seconds", 450.0}}, {{"name", "host"}, {"seconds", 60.0}}}}}},
      {"cost", {{"dollars", 0.19}, {"dollars_per_epoch", 0.19 / 3}}},
      {"memory", {{"activations", 3 << 20}, {"hbm_bytes", 5 << 20}}},
      {"metrics",
       {{"eval_accuracy", 0.9211},
        {"epochs",
         {{{"split", "eval"}, {"epoch", 1}, {"accuracy", 0.9}, {"f1_macro", 0.8}},
          {{"split", "eval"}, {"epoch", 2}, {"accuracy", 0.92}, {"f1_macro", 0.85}}}}}}};
  return result;
}

/// A run folder with everything that a report shows; names want escaping.
std::filesystem::path run_folder(const std::string& name = "first <script>") {
  const auto folder = recorded::folder() / name;
  std::filesystem::create_directories(folder);
  const isa::Program program = recorded::layers();
  analysis::RecordInfo info = recorded::info();
  info.workload = "<img src=x onerror=alert(1)> & \"more\"";
  write_record(folder, recorded::simulated(program, false), program, info);
  analysis::write_result(folder, written_result());
  std::ofstream steps{folder / "steps.jsonl"};
  steps << R"({"step":1,"epoch":0.1,"loss":1.75,"learning_rate":1e-5,"grad_norm":2.0})"
        << "\n"
        << R"({"step":2,"epoch":0.2,"loss":null,"learning_rate":2e-5,"grad_norm":null})"
        << "\n"
        << R"({"step":3,"epoch":0.3,"loss":0.5,"learning_rate":3e-5,"grad_norm":1.0})"
        << "\n";
  return folder;
}

ReportRun loaded(const std::filesystem::path& folder) {
  return load_report_run(folder, analysis::load_prices(std::string_view{}), 0.4);
}

std::string html(const std::filesystem::path& folder) {
  const std::vector<ReportRun> runs{loaded(folder)};
  return report_html(runs);
}

/// Elements that are opened are closed, in order; an unknown element fails.
void expect_well_formed(const std::string& page) {
  const std::regex tag{R"(<(/?)([a-zA-Z0-9]+)((?:[^<>"]|"[^"]*")*)>)"};
  const std::set<std::string> empty = {"meta"};
  std::vector<std::string> open;
  for (std::sregex_iterator it{page.begin(), page.end(), tag}, end; it != end; ++it) {
    const std::string name = (*it)[2], rest = (*it)[3];
    if (empty.contains(name) || rest.ends_with("/")) continue;
    if ((*it)[1].length() == 0) {
      open.push_back(name);
    } else {
      ASSERT_FALSE(open.empty()) << name;
      ASSERT_EQ(open.back(), name) << page.substr(static_cast<std::size_t>(it->position()), 80);
      open.pop_back();
    }
  }
  EXPECT_TRUE(open.empty());
}

TEST(Report, HasEverySectionAndNoNetwork) {
  const std::string page = html(run_folder());
  for (const char* id : {"summary", "time", "timeline", "engines", "layers", "memory", "roofline", "collectives",
                         "cost", "training", "words", "machine"}) {
    EXPECT_THAT(page, HasSubstr(std::string{"<section id=\"r0-"} + id + "\"")) << id;
    EXPECT_THAT(page, HasSubstr(std::string{"href=\"#r0-"} + id + "\"")) << id;
  }
  EXPECT_THAT(page, Not(HasSubstr("id=\"r0-whatif\""))) << "no change was tried";
  EXPECT_THAT(page, Not(HasSubstr("http")));
  EXPECT_THAT(page, Not(HasSubstr("nothing was recorded")));
  EXPECT_THAT(page, Not(HasSubstr("nan")));
  EXPECT_THAT(page, HasSubstr("2 cores run the same program; core 0 is shown, "));
  EXPECT_THAT(page, HasSubstr("prefers-color-scheme:dark"));
  std::string plain = page;
  for (const char* element : {"style", "script"})
    for (std::size_t at = 0; (at = plain.find(std::string{"<"} + element)) != std::string::npos;)
      plain.erase(at, plain.find(std::string{"</"} + element + ">", at) + std::strlen(element) + 3 - at);
  expect_well_formed(plain);
}

TEST(Report, TextFromDataIsEscaped) {
  const std::string page = html(run_folder());
  EXPECT_THAT(page, Not(HasSubstr("<img")));
  EXPECT_THAT(page, HasSubstr("&lt;img src=x onerror=alert(1)&gt; &amp; &quot;more&quot;"));
  EXPECT_THAT(page, HasSubstr("first &lt;script&gt;"));
  EXPECT_THAT(page, HasSubstr("device &lt;b&gt;"));
  EXPECT_EQ(analysis::escape("a\x01<'>"), "a&lt;&#39;&gt;");
}

TEST(Report, AFlagIsOneWord) {
  EXPECT_EQ(analysis::command_html("trnsim run --seed 3 <b>"),
            "trnsim run <span class=\"flag\">--seed</span> 3 &lt;b&gt;");
}

TEST(Report, TheNumbersAreThoseOfTheRun) {
  const auto folder = run_folder();
  const ReportRun run = loaded(folder);
  const std::string page = html(folder);
  EXPECT_THAT(page, HasSubstr("<dt>training time</dt><dd data-v=\"510\">8:30</dd>"));
  EXPECT_THAT(page, HasSubstr("<dt>device step</dt><dd data-v=\"0.15\">150 ms</dd>"));  // the job's: not of one stage
  EXPECT_THAT(page, HasSubstr("Needs <b data-v=\"5242880\">5 MiB</b>"));
  EXPECT_THAT(page, HasSubstr("<td class=\"r\" data-v=\"3145728\">3 MiB</td>"));
  EXPECT_THAT(page, HasSubstr("<dt>cost of the run</dt><dd data-v=\"0.19\">$0.190</dd>"));
  EXPECT_THAT(page, HasSubstr("<dt>eval accuracy</dt><dd data-v=\"0.9211\">0.9211</dd>"));
  EXPECT_THAT(page, HasSubstr(fmt::format("data-v=\"{}\"", run.record.utilisation.mfu)));
  for (const auto& group : time_by(analysis::By::kOp, run.record.result, run.record.program))
    EXPECT_THAT(page, HasSubstr(fmt::format("data-v=\"{}\"", group.busy))) << group.key;
  EXPECT_THAT(page, HasSubstr("hbm.bandwidth"));
}

// Phases, exposed collectives and the rest are the whole step.
TEST(Report, ThePartsOfAStepAddUpToIt) {
  const auto folder = run_folder();
  const std::string page = html(folder);
  const std::size_t begin = page.find("One device step"), end = page.find("</figure>", begin);
  const std::string bar = page.substr(begin, end - begin);
  const std::regex share{"\\(([0-9.]+) %\\)"};
  double all = 0;
  for (std::sregex_iterator it{bar.begin(), bar.end(), share}, last; it != last; ++it) all += std::stod((*it)[1]);
  EXPECT_NEAR(all, 100, 0.3);  // each is rounded to a tenth
  EXPECT_THAT(bar, HasSubstr("(exposed collectives): " +
                             analysis::readable(hw::seconds(loaded(folder).record.result.collective_exposed), "s")));
}

TEST(Report, LinksLeadSomewhere) {
  const std::string page = html(run_folder());
  const std::regex link{"href=\"#([^\"]+)\""};
  int links = 0;
  for (std::sregex_iterator it{page.begin(), page.end(), link}, end; it != end; ++it, ++links)
    EXPECT_THAT(page, HasSubstr("id=\"" + (*it)[1].str() + "\""));
  EXPECT_GT(links, 10);
}

TEST(Report, SeveralRunsAreHeldAgainstTheFirst) {
  const std::vector<ReportRun> runs{loaded(run_folder("a")), loaded(run_folder("b"))};
  const std::string page = report_html(runs), md = report_markdown(runs);
  EXPECT_THAT(page, HasSubstr("<h1>a and b</h1>"));
  EXPECT_THAT(page, HasSubstr("Side by side"));
  EXPECT_THAT(page, HasSubstr("b against a"));
  EXPECT_THAT(page, HasSubstr("id=\"r1-summary\""));
  EXPECT_THAT(md, HasSubstr("## b against a"));
  EXPECT_THAT(md, HasSubstr("| training time | 8:30 |"));
  EXPECT_THAT(md, HasSubstr("\\<img"));
}

TEST(Report, ARunWithoutNumericsOrPriceHasNoSectionOfThem) {
  const auto folder = run_folder();
  std::filesystem::remove(folder / "steps.jsonl");
  ReportRun run = analysis::load_report_run(folder, {}, 0.4);
  EXPECT_THAT(run.warnings, testing::Contains(HasSubstr("no cost")));
  const std::vector<ReportRun> runs{run};
  EXPECT_THAT(report_html(runs), Not(HasSubstr("id=\"r0-cost\"")));
  EXPECT_THAT(report_html(runs), Not(HasSubstr("id=\"r0-training\"")));
}

TEST(Report, AnIncompleteFolderIsAnError) {
  const auto folder = run_folder();
  std::filesystem::remove(folder / "result.json");
  EXPECT_THROW(loaded(folder), base::Error);
  const auto other = run_folder("other");
  std::filesystem::remove(other / "run.sqlite");
  EXPECT_THROW(loaded(other), base::Error);
}

TEST(Report, TheBusyMapKeepsTheBusyTime) {
  const auto record = recorded::record(false);
  const auto map = analysis::busy_map(record.result, 64);
  const double column = hw::seconds(record.result.total) / 64;
  for (int e = 0; e < isa::kEngineCount; ++e) {
    double busy = 0;
    for (const double share : map.values[static_cast<std::size_t>(e)]) {
      EXPECT_LE(share, 1 + 1e-9);
      busy += share * column;
    }
    const double want = hw::seconds(record.result.engines[e].busy);
    EXPECT_NEAR(busy, want, want * 1e-9) << map.rows[static_cast<std::size_t>(e)];
  }
}

TEST(MemoryUse, HeldKindsCountDuringAllCallsOthersWhileTheyLive) {
  const auto memory = memory_use(recorded::record(false));
  const auto bytes = [&](const std::string& kind) {
    return memory.bytes[static_cast<std::size_t>(std::ranges::find(memory.kinds, kind) - memory.kinds.begin())];
  };
  EXPECT_THAT(bytes("weights"), testing::Each(32'768));
  EXPECT_THAT(bytes("activations"), testing::ElementsAre(65'536, 65'536, 0));
  EXPECT_THAT(bytes("gradients"), testing::Each(65'536));  // reserved all along
  EXPECT_THAT(bytes("workspace"), testing::Each(16));      // no call touches it: it counts as held
  EXPECT_EQ(memory.peak, 32'768 + 2 * 65'536 + 16);
}

/// The first of a chart's two pictures, for a wide window and for a phone.
std::string roomy(const std::string& chart) { return chart.substr(0, chart.find("</svg>")); }

TEST(Chart, PartsOfNothingAreLeftOut) {
  const std::string bar = analysis::share_bar("x", {{"a", 1}, {"b", 0}, {"c", 3}}, "s");
  EXPECT_THAT(bar, HasSubstr("c: 3 s (75.0 %)"));
  EXPECT_THAT(bar, Not(HasSubstr("b: ")));
}

TEST(Chart, BytesAreCountedInPowersOfTwo) {
  const std::string area = analysis::area_chart("m", {{"a"}, {{3e9, 4e9}}, {0, 1}, 2}, {}, {"t", "s"}, {"bytes", "B"});
  EXPECT_THAT(area, HasSubstr(">2 GiB<"));
}

TEST(Chart, EmptyDataIsSaidNotDrawn) {
  EXPECT_THAT(analysis::line_chart("loss", {{"loss"}}, {}, {}), HasSubstr("nothing was recorded"));
  EXPECT_THAT(analysis::share_bar("x", {}, "s"), HasSubstr("nothing was recorded"));
  EXPECT_THAT(analysis::scatter_chart("x", {}, {}, {}, {}), HasSubstr("nothing was recorded"));
}

TEST(Chart, NeighboursOfAHeatMapThatLookTheSameAreOneRectangle) {
  const std::string map = roomy(analysis::heat_map("h", {"a"}, {{0.5, 0.501, 0.2, 0, 0.2}}, 5, {"t", "s"}));
  const std::regex mark{"<rect class=\"heat\" x=\"[0-9.]+\" y=\"13.0\" width=\"([0-9.]+)\""};  // the scale is lower
  std::vector<double> widths;
  for (std::sregex_iterator it{map.begin(), map.end(), mark}, end; it != end; ++it)
    widths.push_back(std::stod((*it)[1]));
  ASSERT_EQ(widths.size(), 3u);
  EXPECT_NEAR(widths[0], 2 * widths[1], 0.02);
  EXPECT_THAT(map, HasSubstr("<figcaption>h</figcaption>"));
  EXPECT_THAT(map, HasSubstr(">100 %<"));
}

TEST(Chart, MarksAreNumberedAndListedUpToALimit) {
  const std::string chart =
      analysis::scatter_chart("s", {{"<a>", 1, 2, 0.5}, {"b", 10, 20, 0.1}}, {}, {}, {"y", "s"}, 1);
  EXPECT_THAT(chart, HasSubstr("<li>1 &lt;a&gt;: 2 s</li>"));
  EXPECT_THAT(chart, Not(HasSubstr("<li>2 ")));
  EXPECT_THAT(chart, HasSubstr("<title>b: 20 s</title>"));
}

TEST(Chart, AxesOfWholeThingsHaveWholeTicks) {
  const std::string svg = analysis::line_chart("l", {{"s", {{1, 1}, {2, 3}}}}, {"epoch", "", false, true}, {"y", ""});
  EXPECT_THAT(svg, HasSubstr(">1</text>"));
  EXPECT_THAT(svg, Not(HasSubstr(">1.2</text>")));
}

TEST(Chart, ATornadoReachesFromTheLeastToTheMost) {
  const std::string svg = roomy(analysis::tornado_chart("t", {{"a", 1, 3}, {"b", 2, 2.5}}, 2, {"x", ""}));
  const std::regex bar{"<rect class=\"area a0\" x=\"([0-9.]+)\" y=\"[0-9.]+\" width=\"([0-9.]+)\""};
  std::vector<double> begins, widths;
  for (std::sregex_iterator it{svg.begin(), svg.end(), bar}, end; it != end; ++it) {
    begins.push_back(std::stod((*it)[1]));
    widths.push_back(std::stod((*it)[2]));
  }
  ASSERT_EQ(widths.size(), 2u);
  EXPECT_NEAR(widths[1] / widths[0], 0.25, 0.01);
  EXPECT_NEAR(begins[1] - begins[0], widths[0] / 2, 0.2);  // places are rounded to a tenth
}

TEST(Chart, ALineBreaksWhereThereIsNoNumber) {
  const std::string svg = analysis::line_chart("l", {{"s", {{0, 1}, {1, NAN}, {2, 3}}}}, {"x", ""}, {"y", ""});
  const std::regex line{"class=\"line s0\" d=\"(M[^\"]*)\""};
  std::smatch match;
  ASSERT_TRUE(std::regex_search(svg, match, line));
  EXPECT_EQ(std::ranges::count(match[1].str(), 'M'), 2);
  EXPECT_THAT(svg, Not(HasSubstr("nan")));
}

}  // namespace
