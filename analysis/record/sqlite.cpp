#include "analysis/record/sqlite.h"

#include <SQLiteCpp/Exception.h>
#include <sqlite3.h>

#include "base/error.h"

namespace analysis {
namespace {

using base::Error;
using base::Fault;

constexpr int kPatienceMs = 60'000;  // for another process that writes

[[noreturn]] void fail(const SQLite::Exception& error, const std::string& file) {
  const char* what = error.what();
  if (error.getErrorCode() < 0)  // SQLiteCpp's own: a column that is not there
    throw Error{Fault::kData, file, what, "write the file again: its tables are damaged"};
  switch (error.getErrorCode() & 0xff) {
    case SQLITE_FULL: throw Error{Fault::kEnvironment, file, what, "free space on the disk"};
    case SQLITE_IOERR:
    case SQLITE_READONLY:
    case SQLITE_CANTOPEN:
    case SQLITE_PERM: throw Error{Fault::kEnvironment, file, what, "check the folder, its permissions and its space"};
    case SQLITE_BUSY:
    case SQLITE_LOCKED: throw Error{Fault::kEnvironment, file, what, "end the other process that uses the file"};
    case SQLITE_CORRUPT:
    case SQLITE_NOTADB: throw Error{Fault::kData, file, what, "write the file again: the database is incomplete"};
    case SQLITE_NOMEM: throw Error{Fault::kEnvironment, file, what, "end other processes: the host is out of memory"};
    case SQLITE_AUTH:
      throw Error{Fault::kData, file, what,
                  "use a file that trnsim wrote: it has a view or trigger in place of a table"};
    case SQLITE_INTERRUPT:
      throw Error{Fault::kData, file, "takes more steps to read than a record of its size should",
                  "write the file again"};
    // Only trnsim queries here: a missing table is one that trnsim wrote or should have written.
    default:
      throw Error{Fault::kData, file, what, "write the file again: it is damaged, or not written by this trnsim"};
  }
}

auto guarded(const std::string& file, const auto& action) {
  try {
    return action();
  } catch (const SQLite::Exception& error) {
    fail(error, file);
  }
}

SQLite::Database opened(const std::filesystem::path& path, Database::Mode mode) {
  if (mode == Database::Mode::kRead && !std::filesystem::is_regular_file(path))
    throw Error{Fault::kData, path.string(), "is missing", "give a folder that trnsim run completed"};
  if (mode == Database::Mode::kCreate) std::filesystem::remove(path);
  const int flags =
      mode == Database::Mode::kRead ? SQLite::OPEN_READONLY : SQLite::OPEN_READWRITE | SQLite::OPEN_CREATE;
  return guarded(path.string(), [&] { return SQLite::Database{path.string(), flags, kPatienceMs}; });
}

}  // namespace

Statement::Statement(const SQLite::Database& database, std::string file, std::string_view sql)
    : file_{std::move(file)}, statement_{guarded(file_, [&] {
        return SQLite::Statement{database, std::string{sql}};
      })} {}

bool Statement::step() {
  return guarded(file_, [this] {
    if (statement_.executeStep()) return true;
    statement_.reset();
    return false;
  });
}

bool Statement::is_null(int column) const {
  return guarded(file_, [&] { return statement_.isColumnNull(column); });
}
std::int64_t Statement::whole(int column) const {
  return guarded(file_, [&] { return statement_.getColumn(column).getInt64(); });
}
double Statement::real(int column) const {
  return guarded(file_, [&] { return statement_.getColumn(column).getDouble(); });
}
std::string Statement::text(int column) const {
  return guarded(file_, [&] { return statement_.getColumn(column).getString(); });
}

Database::Database(const std::filesystem::path& path, Mode mode) : file_{path.string()}, database_{opened(path, mode)} {
  if (mode == Mode::kCreate) return;
  guard_.emplace(database_.getHandle(), file_,
                 mode == Mode::kRead ? SqliteGuard::Use::kRead : SqliteGuard::Use::kUpdate);
}

void Database::execute(const std::string& sql) {
  guarded(file_, [&] { return database_.exec(sql); });
}

}  // namespace analysis
