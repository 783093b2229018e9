// The time of a step of bert_emotion on the simulated machine, by the installed library: see ../README.md.
#include <fmt/format.h>

#include "trnsim/job.h"
#include "trnsim/projection.h"

int main() {
  const auto p = trnsim::project(trnsim::load_job("bert_emotion"));
  fmt::print("{:.4f} s\n", p.time.step);
}
