// The bodies of the loops that the sequencers count, while a kernel is traced.
#pragma once

#include <cstddef>
#include <map>
#include <memory>
#include <utility>
#include <vector>

#include "runtime/nki/view.h"

namespace runtime::nki {

/// The SDK traces a body once: a product that overwrites its bank in the first iteration overwrites it in every one.
/// Here each iteration is traced, and to its products a bank holds the sums from before the loop and those of this
/// iteration. Source: AWS Neuron SDK 2.32, `accumulate` of nki.isa.nc_matmul, and NKI dynamic loops.
class Bodies {
 public:
  /// A loop begins: the number of its body, for the calls below. Bodies that were entered after it are left with it.
  std::size_t enter();
  /// An iteration of it ends.
  void again(std::size_t body);
  /// Behind the loop, a bank holds the sums of an iteration.
  void leave(std::size_t body);
  /// A block on the chip is about to be written.
  void write(const std::shared_ptr<Storage>& storage, std::size_t block);
  /// Another program of the launch grid goes on: its own loops are open.
  void program(std::size_t number);

 private:
  using Block = std::pair<std::shared_ptr<Storage>, std::size_t>;
  struct Added {  // regions that products may add to: before the loop, and after one of its iterations
    std::vector<Region> before{}, after{};
  };
  using Body = std::map<Block, Added>;

  std::vector<Body> open_;
  std::map<std::size_t, std::vector<Body>> others_;  // of programs that wait
  std::size_t program_ = 0;
};

}  // namespace runtime::nki
