// Whether the tests run under a sanitizer, for the few that its runtime does not let run.
#pragma once

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
