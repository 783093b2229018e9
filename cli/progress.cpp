#include "cli/progress.h"

#include <memory>
#include <utility>

#include "base/progress.h"

namespace cli {
namespace {

std::function<void(std::size_t, std::size_t)> shown(std::string what, std::string unit, bool even) {
  struct Shown {
    std::size_t all = 0;
    std::unique_ptr<base::Progress> line{};
  };
  return [what = std::move(what), unit = std::move(unit), even, shown = std::make_shared<Shown>()](std::size_t done,
                                                                                                   std::size_t all) {
    if (!shown->line || shown->all != all) {
      shown->line.reset();
      shown->line = std::make_unique<base::Progress>(what, unit, all, base::ProgressOptions{.even = even});
      shown->all = all;
    }
    shown->line->update(done);
  };
}

}  // namespace

std::function<void(std::size_t, std::size_t)> progress_of(std::string what, std::string unit) {
  return shown(std::move(what), std::move(unit), true);
}
std::function<void(std::size_t, std::size_t)> uneven_progress_of(std::string what, std::string unit) {
  return shown(std::move(what), std::move(unit), false);
}

}  // namespace cli
