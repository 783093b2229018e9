// Compiled into each program that uses the installed package: where its machines, stacks and workloads lie.
// base::data_path (base/files.cpp) knows this function by its name; weak, since a program may hold it twice.
namespace base {
[[gnu::weak]] const char* installed_data_folder() { return TRNSIM_DATA_FOLDER; }
}  // namespace base
