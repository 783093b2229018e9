// A database file and its statements: the one place that talks to SQLite.
#pragma once

#include <SQLiteCpp/Database.h>
#include <SQLiteCpp/Statement.h>

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>

#include "analysis/record/sqlite_guard.h"

namespace analysis {

/// A prepared statement. Values are bound from left to right by run() or query(); columns are counted from 0.
class Statement {
 public:
  Statement(const SQLite::Database& database, std::string file, std::string_view sql);

  /// Binds `values` and runs the statement to its end, rows ignored. Errors: Fault::kEnvironment when the disk is full
  /// or the file cannot be written, Fault::kData when the file is damaged, Fault::kUsage for a refused statement.
  template <class... Values>
  void run(const Values&... values) {
    query(values...);
    while (step()) {
    }
  }
  /// Binds `values`; step() then gives the rows.
  template <class... Values>
  Statement& query(const Values&... values) {
    statement_.tryReset();
    int index = 0;
    (bind(++index, values), ...);
    return *this;
  }
  /// Moves to the next row; false at the end, after which the statement can be run again.
  bool step();

  int columns() const { return statement_.getColumnCount(); }
  // Errors: Fault::kData for a column that the file's tables lack.
  bool is_null(int column) const;
  std::int64_t whole(int column) const;
  double real(int column) const;
  std::string text(int column) const;

 private:
  template <class Value>
  void bind(int index, const Value& value) {
    if constexpr (std::is_integral_v<Value>) {
      statement_.bind(index, static_cast<std::int64_t>(value));
    } else if constexpr (std::is_floating_point_v<Value>) {
      statement_.bind(index, static_cast<double>(value));  // NaN becomes NULL
    } else {
      statement_.bind(index, std::string{value});
    }
  }
  std::string file_;
  SQLite::Statement statement_;
};

class Database {
 public:
  enum class Mode { kRead, kCreate, kUpdate };  // kUpdate: creates the file when it is missing, shared by processes

  /// Errors: Fault::kData when kRead finds no database, or a file that is there has other things than plain tables;
  /// Fault::kEnvironment when the file cannot be opened.
  Database(const std::filesystem::path& path, Mode mode);

  /// Any number of statements without values. Errors: as Statement::run().
  void execute(const std::string& sql);
  Statement prepare(std::string_view sql) { return {database_, file_, sql}; }
  /// Rows changed by the last statement.
  std::int64_t changes() const { return database_.getChanges(); }
  const std::string& file() const { return file_; }

 private:
  std::string file_;
  SQLite::Database database_;
  std::optional<SqliteGuard> guard_;  // of a file that may be a stranger's
};

}  // namespace analysis
