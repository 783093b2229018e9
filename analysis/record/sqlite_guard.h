// Keeps a database of a stranger from running programs: its tables may be views without an end, its triggers anything.
#pragma once

#include <cstdint>
#include <memory>
#include <string>

struct sqlite3;

namespace analysis {

/// Watches one connection for as long as it lives; the connection must not outlive it.
class SqliteGuard {
 public:
  enum class Use { kRead, kUpdate };

  /// From now on statements reach tables alone, not through views or triggers, and reading ends after a number of steps
  /// that the size of the file bounds. Errors: Fault::kData for a schema of other things than tables, views that are
  /// not read, and indices.
  SqliteGuard(sqlite3* connection, const std::string& file, Use use);

 private:
  struct Budget {
    std::int64_t left = 0;  // rounds of the virtual machine
  };
  std::unique_ptr<Budget> budget_;
};

}  // namespace analysis
