#include "cli/progress.h"

#include <memory>
#include <utility>

#include "base/progress.h"

namespace cli {

std::function<void(std::size_t, std::size_t)> progress_of(std::string what, std::string unit) {
  struct Shown {
    std::size_t all = 0;
    std::unique_ptr<base::Progress> line{};
  };
  return [what = std::move(what), unit = std::move(unit), shown = std::make_shared<Shown>()](std::size_t done,
                                                                                             std::size_t all) {
    if (!shown->line || shown->all != all) {
      shown->line.reset();
      shown->line = std::make_unique<base::Progress>(what, unit, all);
      shown->all = all;
    }
    shown->line->update(done);
  };
}

}  // namespace cli
