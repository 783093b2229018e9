// Tables in words, as people publish them, through validation/tables/columns: what its guesses become.
#pragma once

#include <array>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <memory>
#include <stdexcept>
#include <string>

namespace tests {

/// Without it, tests of the guesses are skipped.
inline bool has_python() { return std::system("python3 --version >/dev/null 2>&1") == 0; }
inline constexpr const char* kNoPython = "columns needs python3";

/// The text of the table with the columns that the script guesses. Throws std::runtime_error when it refuses the table.
inline std::string converted(const std::string& table) {
  std::string pattern = (std::filesystem::temp_directory_path() / "trnsim_columns_XXXXXX").string();
  const std::filesystem::path folder = mkdtemp(pattern.data());
  std::ofstream{folder / "old.csv"} << table;
  const std::string command =
      "python3 -B " TRNSIM_SOURCE_DIR "/validation/tables/columns " + (folder / "old.csv").string();
  const std::unique_ptr<FILE, int (*)(FILE*)> pipe{popen(command.c_str(), "r"), [](FILE*) { return 0; }};
  std::string out;
  std::array<char, 4096> piece{};
  while (const std::size_t n = std::fread(piece.data(), 1, piece.size(), pipe.get())) out.append(piece.data(), n);
  const int status = pclose(pipe.get());
  std::filesystem::remove_all(folder);
  if (status != 0) throw std::runtime_error{"columns: no table of measurements"};
  return out;
}

/// The columns that a table needs, and no others.
inline constexpr const char* kTrainingHeader =
    "id,kind,model,layers,hidden,heads,kv_heads,ffn,vocab,seq_len,instance,nodes,cores,dp,tp,pp,zero1,seq_parallel,"
    "recompute,micro_batch,grad_accum,weights,optimizer_state,optimizer,stack,metric,value,low,high,releases,source,"
    "notes\n";
inline constexpr const char* kMicroHeader = "id,kind,what,shape,dtype,cores,instance,value,unit,source,notes\n";
inline constexpr const char* kCompileHeader = "id,kind,what,seq_len,cores,instance,cold,value,unit,source,notes\n";

}  // namespace tests
