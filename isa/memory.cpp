#include "isa/memory.h"

#include <fmt/format.h>
#include <sys/mman.h>

#include <cerrno>
#include <cstring>

#include "base/error.h"

namespace isa {
namespace {

constexpr std::uint64_t kSbufBytes = static_cast<std::uint64_t>(Memory::kSbufStride) * kPartitions;
constexpr std::uint64_t kPsumBytes = static_cast<std::uint64_t>(Memory::kPsumStride) * kPartitions;

/// Zeroed address space; pages are paid for when they are touched, huge ones where the host offers them.
std::byte* reserve(std::uint64_t bytes, const char* where) {
  if (bytes == 0) return nullptr;
  void* address = mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (address == MAP_FAILED)
    throw base::Error{base::Fault::kCapacity, where,
                      fmt::format("the host cannot reserve {} bytes: {}", bytes, std::strerror(errno)),
                      "run fewer ranks or a smaller model, or raise the limit on address space (ulimit -v)"};
  madvise(address, bytes, MADV_HUGEPAGE);  // only a hint: a host without huge pages is slower, not wrong
  return static_cast<std::byte*>(address);
}

}  // namespace

Memory::Memory(std::uint64_t hbm_bytes) : hbm_bytes_{hbm_bytes} {
  try {
    sbuf_ = reserve(kSbufBytes, "SBUF");
    psum_ = reserve(kPsumBytes, "PSUM");
    hbm_ = reserve(hbm_bytes, "HBM");
  } catch (...) {
    if (sbuf_) munmap(sbuf_, kSbufBytes);
    if (psum_) munmap(psum_, kPsumBytes);
    throw;
  }
}

Memory::~Memory() {
  munmap(sbuf_, kSbufBytes);
  munmap(psum_, kPsumBytes);
  if (hbm_) munmap(hbm_, hbm_bytes_);
}

}  // namespace isa
