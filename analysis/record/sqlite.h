// A database file and its statements: the one place that talks to SQLite.
#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>
#include <string>
#include <string_view>
#include <type_traits>

struct sqlite3;
struct sqlite3_stmt;

namespace analysis {

/// A prepared statement. Values are bound from left to right by run() or query(); columns are counted from 0.
class Statement {
 public:
  Statement(sqlite3* database, std::string file, std::string_view sql);

  /// Binds `values` and runs the statement to its end, rows ignored. Errors: Fault::kEnvironment when the disk is full
  /// or the file cannot be written, Fault::kData when the file is damaged, Fault::kUsage for a refused statement.
  template <class... Values>
  void run(const Values&... values) {
    bind_all(values...);
    while (step()) {
    }
  }
  /// Binds `values`; step() then gives the rows.
  template <class... Values>
  Statement& query(const Values&... values) {
    bind_all(values...);
    return *this;
  }
  /// Moves to the next row; false at the end, after which the statement can be run again.
  bool step();

  int columns() const;
  std::string column_name(int column) const;
  bool is_null(int column) const;
  std::int64_t whole(int column) const;
  double real(int column) const;
  std::string text(int column) const;

 private:
  template <class... Values>
  void bind_all(const Values&... values) {
    reset();
    int index = 0;
    (bind(++index, values), ...);
  }
  template <class Value>
  void bind(int index, const Value& value) {
    if constexpr (std::is_integral_v<Value>) {
      bind_whole(index, static_cast<std::int64_t>(value));
    } else if constexpr (std::is_floating_point_v<Value>) {
      bind_real(index, value);
    } else {
      bind_text(index, value);
    }
  }
  void reset();
  void bind_whole(int index, std::int64_t value);
  void bind_real(int index, double value);  // NaN becomes NULL
  void bind_text(int index, std::string_view value);

  struct Finalize {
    void operator()(sqlite3_stmt* statement) const;
  };
  sqlite3* database_;
  std::string file_;
  std::unique_ptr<sqlite3_stmt, Finalize> statement_;
};

class Database {
 public:
  enum class Mode { kRead, kCreate, kUpdate };  // kUpdate: creates the file when it is missing, shared by processes

  /// Errors: Fault::kData when kRead finds no database, Fault::kEnvironment when the file cannot be opened.
  Database(const std::filesystem::path& path, Mode mode);

  /// Any number of statements without values. Errors: as Statement::run().
  void execute(const std::string& sql);
  Statement prepare(std::string_view sql);
  /// Rows changed by the last statement.
  std::int64_t changes() const;
  const std::string& file() const { return file_; }

 private:
  struct Close {
    void operator()(sqlite3* database) const;
  };
  std::string file_;
  std::unique_ptr<sqlite3, Close> database_;
};

}  // namespace analysis
