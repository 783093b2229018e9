// Whether the tests run under a sanitizer, for the few that its runtime does not let run.
#pragma once

#include <cstdlib>

#ifdef __SANITIZE_THREAD__
inline constexpr bool kThreadSanitized = true;
#else
inline constexpr bool kThreadSanitized = false;
#endif
#ifdef __SANITIZE_ADDRESS__
inline constexpr bool kSanitized = true;
#else
inline constexpr bool kSanitized = kThreadSanitized;
#endif

/// Whether tests are left out that take the thread sanitizer, 10 to 20 times as slow, a minute or more.
inline bool without_slow() { return kThreadSanitized && std::getenv("TRNSIM_SLOW") == nullptr; }
inline constexpr const char* kSlow = "takes the thread sanitizer a minute or more: set TRNSIM_SLOW=all";
