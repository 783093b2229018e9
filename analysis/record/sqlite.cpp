#include "analysis/record/sqlite.h"

#include <sqlite3.h>

#include "base/error.h"

namespace analysis {
namespace {

using base::Error;
using base::Fault;

constexpr int kPatienceMs = 60'000;  // for another process that writes

[[noreturn]] void fail(sqlite3* database, const std::string& file) {
  const int code = database == nullptr ? SQLITE_NOMEM : sqlite3_errcode(database);
  const std::string what = database == nullptr ? "out of memory" : sqlite3_errmsg(database);
  switch (code & 0xff) {
    case SQLITE_FULL: throw Error{Fault::kEnvironment, file, what, "free space on the disk"};
    case SQLITE_IOERR:
    case SQLITE_READONLY:
    case SQLITE_CANTOPEN:
    case SQLITE_PERM: throw Error{Fault::kEnvironment, file, what, "check the folder, its permissions and its space"};
    case SQLITE_BUSY:
    case SQLITE_LOCKED: throw Error{Fault::kEnvironment, file, what, "end the other process that uses the file"};
    case SQLITE_CORRUPT:
    case SQLITE_NOTADB: throw Error{Fault::kData, file, what, "make the file again: it is no whole database"};
    default: throw Error{Fault::kUsage, file, what, "see the tables with: sqlite3 " + file + " .schema"};
  }
}

}  // namespace

void Statement::Finalize::operator()(sqlite3_stmt* statement) const { sqlite3_finalize(statement); }

Statement::Statement(sqlite3* database, std::string file, std::string_view sql)
    : database_{database}, file_{std::move(file)} {
  sqlite3_stmt* statement = nullptr;
  const int code = sqlite3_prepare_v2(database, sql.data(), static_cast<int>(sql.size()), &statement, nullptr);
  statement_.reset(statement);
  if (code != SQLITE_OK) fail(database_, file_);
}

bool Statement::step() {
  const int code = sqlite3_step(statement_.get());
  if (code == SQLITE_ROW) return true;
  if (code != SQLITE_DONE) fail(database_, file_);
  sqlite3_reset(statement_.get());
  return false;
}

int Statement::columns() const { return sqlite3_column_count(statement_.get()); }
std::string Statement::column_name(int column) const { return sqlite3_column_name(statement_.get(), column); }
bool Statement::is_null(int column) const { return sqlite3_column_type(statement_.get(), column) == SQLITE_NULL; }
std::int64_t Statement::whole(int column) const { return sqlite3_column_int64(statement_.get(), column); }
double Statement::real(int column) const { return sqlite3_column_double(statement_.get(), column); }
std::string Statement::text(int column) const {
  const auto* bytes = reinterpret_cast<const char*>(sqlite3_column_text(statement_.get(), column));
  return bytes == nullptr
             ? std::string{}
             : std::string(bytes, static_cast<std::size_t>(sqlite3_column_bytes(statement_.get(), column)));
}

void Statement::reset() { sqlite3_reset(statement_.get()); }

void Statement::bind_whole(int index, std::int64_t value) {
  if (sqlite3_bind_int64(statement_.get(), index, value) != SQLITE_OK) fail(database_, file_);
}
void Statement::bind_real(int index, double value) {
  if (sqlite3_bind_double(statement_.get(), index, value) != SQLITE_OK) fail(database_, file_);
}
void Statement::bind_text(int index, std::string_view value) {
  const int code =
      sqlite3_bind_text(statement_.get(), index, value.data(), static_cast<int>(value.size()), SQLITE_TRANSIENT);
  if (code != SQLITE_OK) fail(database_, file_);
}

void Database::Close::operator()(sqlite3* database) const { sqlite3_close_v2(database); }

Database::Database(const std::filesystem::path& path, Mode mode) : file_{path.string()} {
  if (mode == Mode::kRead && !std::filesystem::is_regular_file(path)) {
    throw Error{Fault::kData, file_, "is missing", "give a folder that trnsim run completed"};
  }
  if (mode == Mode::kCreate) std::filesystem::remove(path);
  const int flags = mode == Mode::kRead ? SQLITE_OPEN_READONLY : SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE;
  sqlite3* database = nullptr;
  const int code = sqlite3_open_v2(path.c_str(), &database, flags, nullptr);
  database_.reset(database);
  if (code != SQLITE_OK) fail(database, file_);
  sqlite3_busy_timeout(database, kPatienceMs);
}

void Database::execute(const std::string& sql) {
  if (sqlite3_exec(database_.get(), sql.c_str(), nullptr, nullptr, nullptr) != SQLITE_OK) fail(database_.get(), file_);
}

Statement Database::prepare(std::string_view sql) { return {database_.get(), file_, sql}; }

std::int64_t Database::changes() const { return sqlite3_changes(database_.get()); }

}  // namespace analysis
