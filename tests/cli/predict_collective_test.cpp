// `trnsim validate` on rows of collectives.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "tests/cli/run_binary.h"

namespace {

using cli_test::Ran;
using cli_test::run;
using Json = nlohmann::json;

Json validate(const std::string& arguments) {
  const Ran ran = run("validate " TRNSIM_SOURCE_DIR "/validation/tables/micro.csv --format json " + arguments);
  EXPECT_EQ(ran.code, 0) << ran.err;
  return Json::parse(ran.out);
}

TEST(PredictCollective, EveryRowIsWithinTwentyPerCent) {
  int rows = 0;
  for (const Json& row : validate("--only ar2_1024,ar2_1048576,ar2_16777216,ar2_268435456,ag32_1024,ag32_524288,"
                                  "ar64_8,ar64_16384,ar64_4194304,ar64_67108864,ar64_1073741824")) {
    ++rows;
    ASSERT_TRUE(row["predicted"].is_number()) << row["id"] << row["skip_reason"];
    EXPECT_LT(std::abs(row["error_percent"].get<double>()), 20) << row["id"];
  }
  EXPECT_EQ(rows, 11);
}

TEST(PredictCollective, FollowsTheMachineThatIsSet) {
  const auto predicted = [](const std::string& set) {
    return validate("--only ar64_1073741824 " + set)[0]["predicted"].get<double>();
  };
  const double plain = predicted("");
  EXPECT_LT(predicted("--set efa.bandwidth=2x"), 0.95 * plain);
  EXPECT_NEAR(predicted("--set efa.latency=30us"), plain + 30, 1e-6 * plain);  // two steps over the network
}

TEST(PredictCollective, NamesTheTimeThatABenchmarkAdds) {
  const Json row = validate("--only ag32_1024")[0];
  EXPECT_THAT(row["assumptions"].dump(), testing::HasSubstr("121.2 us in a program, 30 us for the benchmark"));
}

}  // namespace
