#include "isa/memory.h"

#include <fmt/format.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

#include "base/error.h"

namespace isa {
namespace {

constexpr std::uint64_t kSbufBytes = static_cast<std::uint64_t>(Memory::kSbufStride) * kPartitions;
constexpr std::uint64_t kPsumBytes = static_cast<std::uint64_t>(Memory::kPsumStride) * kPartitions;

std::uint64_t whole_pages(std::uint64_t bytes) {
  const auto page = static_cast<std::uint64_t>(sysconf(_SC_PAGESIZE));
  return (bytes + page - 1) / page * page;
}

constexpr std::uint64_t kHugePage = std::uint64_t{2} << 20;

/// Zeroed address space that begins on a huge page; pages are paid for when they are touched. `huge`: they are huge.
std::byte* reserve(std::uint64_t bytes, const char* where, bool huge) {
  if (bytes == 0) return nullptr;
  const std::uint64_t all = bytes + kHugePage;
  void* address = mmap(nullptr, all, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (address == MAP_FAILED)
    throw base::Error{base::Fault::kCapacity, where,
                      fmt::format("the host cannot reserve {} bytes: {}", bytes, std::strerror(errno)),
                      "run fewer ranks or a smaller model, or raise the limit on address space (ulimit -v)"};
  auto* const begin = static_cast<std::byte*>(address);
  const std::uint64_t head = (kHugePage - reinterpret_cast<std::uintptr_t>(begin) % kHugePage) % kHugePage;
  const std::uint64_t used = whole_pages(bytes);
  if (head > 0) munmap(begin, head);
  if (all - head > used) munmap(begin + head + used, all - head - used);
  if (huge) madvise(begin + head, used, MADV_HUGEPAGE);  // only a hint: a host without huge pages is slower, not wrong
  return begin + head;
}

void release(std::byte* address, std::uint64_t bytes) {
  if (address) munmap(address, whole_pages(bytes));
}

}  // namespace

NumericEvents& NumericEvents::operator+=(const NumericEvents& other) {
  overflowed += other.overflowed;
  out_of_range += other.out_of_range;
  transposed += other.transposed;
  flushed += other.flushed;
  return *this;
}

Memory::Memory(std::uint64_t hbm_bytes) : hbm_bytes_{hbm_bytes} {
  // Small programs touch a few bytes of each partition: in huge pages a core would clear 60 MiB for them.
  try {
    sbuf_ = reserve(kSbufBytes, "SBUF", false);
    psum_ = reserve(kPsumBytes, "PSUM", false);
    hbm_ = reserve(hbm_bytes, "HBM", true);
  } catch (...) {
    release(sbuf_, kSbufBytes);
    release(psum_, kPsumBytes);
    throw;
  }
}

Memory::~Memory() {
  release(sbuf_, kSbufBytes);
  release(psum_, kPsumBytes);
  release(hbm_, hbm_bytes_);
}

}  // namespace isa
