// Settings without effect are refused, each with its reason.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>
#include <string>

#include "base/error.h"
#include "trnsim/job/settings.h"
#include "trnsim/plans/serving.h"
#include "trnsim/project/estimate.h"
#include "trnsim/run/buyers_job.h"

namespace trnsim {
namespace {

using Values = std::map<std::string, std::string>;

/// The mistake in the question; empty: there is none.
template <class Question>
std::string problem(const Values& values, Question question) {
  Settings given;
  try {
    for (const auto& [name, value] : values) {
      set_option<Settings>(given, find_setting(name, "test"), value);
      given.given.insert(name);
    }
    resolve_numerics(given);
    question(given);
  } catch (const base::Error& error) {
    return error.what();
  }
  return "";
}

std::string estimated(Values values) {
  return problem(values, [](const Settings& s) { jobs_of_model("llama-small", s, 0, {})(estimate_settings(s)); });
}

std::string served(Values values) {
  values["task"] = "inference";
  return problem(values, [](const Settings& s) { serve("llama-small", estimate_settings(s), {1}); });
}

std::string priced(Values values) {
  return problem(values, [](const Settings& s) { buyers_job("llama-small", s, 1000); });
}

TEST(Unread, ACastOfWhatIsNotInFp32) {
  EXPECT_THAT(estimated({{"auto_cast", "none"}}), testing::HasSubstr("no effect on bf16"));
  EXPECT_THAT(estimated({{"auto_cast_type", "fp16"}}), testing::HasSubstr("no effect on bf16"));
  EXPECT_THAT(estimated({{"auto_cast", "all"}, {"numerics", "fp32+bf16-matmul"}}), testing::HasSubstr("contradicts"));
  EXPECT_EQ(estimated({{"auto_cast", "none"}, {"numerics", "fp32"}}), "");
  EXPECT_EQ(estimated({{"auto_cast_type", "tf32"}, {"numerics", "fp32"}}), "");
  EXPECT_EQ(estimated({{"auto_cast", "all"}, {"numerics", "fp32+sr"}}), "");
}

TEST(Unread, TextsWhereRequestsAreNumbersOfTokens) {
  EXPECT_THAT(served({{"vocab", "vocab.txt"}}), testing::HasSubstr("`vocab`: applies to texts"));
  EXPECT_THAT(priced({{"task", "inference"}, {"vocab", "v"}}), testing::HasSubstr("`vocab`: applies to texts"));
}

TEST(Unread, AHeadOfATrainingWhereTextIsWritten) {
  const Values head{{"task", "sequence-classification"}, {"max_new_tokens", "4"}};
  EXPECT_THAT(estimated(head), testing::HasSubstr("`task`: applies to training"));
}

TEST(Unread, CachesThatAreTooShortOrLongerThanThePositions) {
  EXPECT_THAT(served({{"max_length", "64"}}), testing::HasSubstr("give 256 or more"));
  EXPECT_NE(served({{"max_length", "1048576"}}), "");
  EXPECT_EQ(served({{"max_length", "512"}}), "");
}

TEST(Unread, AnAmountBesideTheSamplesOfTheWholeJob) {
  EXPECT_THAT(priced({{"max_steps", "7"}}), testing::HasSubstr("`max_steps`: has no effect with `samples`"));
  EXPECT_THAT(priced({{"num_train_epochs", "2"}}), testing::HasSubstr("`num_train_epochs`"));
}

// One batch takes as long for a request as for all that it has room for.
TEST(Unread, FewRequestsTakeTheTimeOfABatch) {
  Settings given = estimate_settings({});
  given.data.task = "inference";
  const Served one = serve("llama-small", given, {1}).front();
  EXPECT_EQ(one.seconds_of(1), one.latency);
  EXPECT_EQ(one.seconds_of(one.at_once()), one.latency);
  EXPECT_DOUBLE_EQ(one.seconds_of(1e6), 1e6 / one.requests);
  EXPECT_DOUBLE_EQ(one.seconds_of(1e6, 4), 1e6 / one.requests / 4);
}

}  // namespace
}  // namespace trnsim
