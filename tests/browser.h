// A page in Debian's chromium without a window: what its scripts leave behind, and how it looks.
#pragma once

#include <cstdlib>
#include <filesystem>
#include <string>

#include "base/files.h"

namespace browser {

inline bool installed() { return std::system("command -v chromium >/dev/null 2>&1") == 0; }

/// Runs chromium on `page` with `flags`, stdout to `out`; its profile is beside the page. Returns the exit code.
inline int open(const std::filesystem::path& page, const std::string& flags, const std::string& out = "/dev/null") {
  const std::string command =
      "chromium --headless --no-sandbox --disable-gpu --no-first-run --disable-background-networking " + flags +
      " --user-data-dir='" + (page.parent_path() / "profile").string() + "' 'file://" + page.string() + "' >'" + out +
      "' 2>/dev/null";
  return std::system(command.c_str());
}

/// The title of the page after its scripts have run; empty when the browser failed. `size`: "390,844".
inline std::string title(const std::filesystem::path& page, const std::string& size, const std::string& flags = "") {
  const std::string dom = (page.parent_path() / "dom.html").string();
  if (open(page, flags + " --window-size=" + size + " --dump-dom", dom) != 0) return "";
  const std::string text = base::read_file(dom);
  const std::size_t begin = text.find("<title>");
  return begin == std::string::npos ? "" : text.substr(begin + 7, text.find("</title>") - begin - 7);
}

/// A picture of the page, as a window of that size shows it.
inline bool picture(const std::filesystem::path& page, const std::string& size, const std::filesystem::path& png) {
  return open(page, "--hide-scrollbars --window-size=" + size + " --screenshot='" + png.string() + "'") == 0 &&
         std::filesystem::exists(png) && std::filesystem::file_size(png) > 0;
}

}  // namespace browser
