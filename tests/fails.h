// A check of an error's kind and words.
#pragma once

#include <gtest/gtest.h>

#include <functional>
#include <initializer_list>
#include <string>
#include <string_view>

#include "base/error.h"

namespace tests {

/// `run` throws a base::Error of this fault whose text holds every one of `words` and a fix.
inline testing::AssertionResult fails(base::Fault fault, const std::function<void()>& run,
                                      std::initializer_list<std::string_view> words) {
  try {
    run();
  } catch (const base::Error& error) {
    const std::string text = error.what();
    if (error.fault() != fault) return testing::AssertionFailure() << "another fault: " << text;
    if (error.fix().empty()) return testing::AssertionFailure() << "no fix: " << text;
    for (const std::string_view word : words)
      if (text.find(word) == std::string::npos)
        return testing::AssertionFailure() << "no \"" << word << "\" in: " << text;
    return testing::AssertionSuccess();
  }
  return testing::AssertionFailure() << "no error was thrown";
}

}  // namespace tests
