# Tests and benchmarks, built unless TRNSIM_TESTS is OFF.
find_package(GTest REQUIRED)
find_package(Protobuf REQUIRED)  # tests read traces back with it
find_package(benchmark REQUIRED)

enable_testing()
include(GoogleTest)
function(trnsim_tests folder)
  file(GLOB_RECURSE sources CONFIGURE_DEPENDS tests/${folder}/*_test.cpp)
  if(NOT sources)
    return()
  endif()
  add_executable(test_${folder} ${sources})
  target_link_libraries(test_${folder} PRIVATE ${ARGN} GTest::gtest GTest::gmock GTest::gtest_main)
  target_compile_definitions(test_${folder} PRIVATE TRNSIM_BINARY="$<TARGET_FILE:trnsim>"
                             TRNSIM_TEST_DIR="${CMAKE_SOURCE_DIR}/tests" TRNSIM_SOURCE_DIR="${CMAKE_SOURCE_DIR}")
  # Measured: gmock costs each test file 1 s of the compiler. Only what every test includes by itself stands here.
  target_precompile_headers(test_${folder} PRIVATE <gmock/gmock.h> <gtest/gtest.h>)
  # Measured: -Og takes the compiler a fifth less than -O1, and the tests' time is spent in the libraries.
  target_compile_options(test_${folder} PRIVATE $<$<CONFIG:Release>:-Og>)
  trnsim_unity(test_${folder} 28)
  # Limits of time end what hangs; a loaded host takes ten times as long as an idle one.
  # Values of parameters are bytes of structs, with addresses: names of tests would change from run to run.
  gtest_discover_tests(test_${folder} NO_PRETTY_VALUES DISCOVERY_TIMEOUT 600 PROPERTIES TIMEOUT 1800)
endfunction()
trnsim_tests(base trnsim_base)
trnsim_tests(isa trnsim_isa trnsim_hw)  # a target comes from a machine file
trnsim_tests(hw trnsim_hw)
trnsim_tests(runtime trnsim_runtime trnsim_hw)
trnsim_tests(workloads trnsim_workloads trnsim_hw)  # what it trains, it also times
trnsim_tests(frontend trnsim_frontend)
trnsim_tests(analysis trnsim_analysis trnsim_hw protobuf::libprotobuf)
trnsim_tests(trnsim trnsim_trnsim)
trnsim_tests(validation trnsim_validation)
trnsim_tests(cli trnsim_validation)
trnsim_tests(integration trnsim_base)
# What reads a stranger's bytes: replayed by a test, and fuzzed in a build of clang's (./dev fuzz).
add_library(trnsim_fuzz_targets STATIC EXCLUDE_FROM_ALL tests/fuzz/targets.cpp)
target_link_libraries(trnsim_fuzz_targets PUBLIC trnsim_validation)
target_compile_definitions(trnsim_fuzz_targets PRIVATE TRNSIM_TEST_DIR="${CMAKE_SOURCE_DIR}/tests")
target_compile_options(trnsim_fuzz_targets PRIVATE $<$<CONFIG:Release>:-Og>)
trnsim_tests(fuzz trnsim_fuzz_targets)
option(TRNSIM_FUZZ "instrument everything for libFuzzer, and build trnsim_fuzz; needs clang" OFF)
if(TRNSIM_FUZZ)
  target_compile_options(trnsim_options INTERFACE -fsanitize=fuzzer-no-link)
  add_executable(trnsim_fuzz tests/fuzz/fuzz_main.cpp)
  target_link_libraries(trnsim_fuzz PRIVATE trnsim_fuzz_targets GTest::gtest -fsanitize=fuzzer)
endif()
if(TARGET test_integration)  # it installs what was built
  target_compile_definitions(test_integration PRIVATE TRNSIM_BUILD_DIR="${CMAKE_BINARY_DIR}" TRNSIM_CXX="${CMAKE_CXX_COMPILER}")
  add_dependencies(test_integration trnsim_installed)
endif()
if(TARGET test_cli)
  foreach(name IN ITEMS fail_io fail_alloc power_cut)  # stand between trnsim and the C library
    add_library(trnsim_${name} MODULE tests/cli/${name}.cpp)
    target_compile_features(trnsim_${name} PRIVATE cxx_std_20)
    target_link_libraries(trnsim_${name} PRIVATE ${CMAKE_DL_LIBS})
    string(TOUPPER TRNSIM_${name} defined)
    target_compile_definitions(test_cli PRIVATE ${defined}="$<TARGET_FILE:trnsim_${name}>")
    add_dependencies(test_cli trnsim_${name})
  endforeach()
endif()
add_library(trnsim_threads_seen MODULE tests/nightly/threads_seen.cpp)
target_compile_features(trnsim_threads_seen PRIVATE cxx_std_20)
target_link_libraries(trnsim_threads_seen PRIVATE ${CMAKE_DL_LIBS})
if(TARGET test_base)
  target_compile_definitions(test_base PRIVATE TRNSIM_THREADS_SEEN="$<TARGET_FILE:trnsim_threads_seen>")
  add_dependencies(test_base trnsim_threads_seen)
endif()
foreach(tests IN ITEMS test_cli test_integration)  # they run the binary
  if(TARGET ${tests})
    add_dependencies(${tests} trnsim)
  endif()
endforeach()

file(GLOB_RECURSE bench_sources CONFIGURE_DEPENDS tests/bench/*.cpp)
if(bench_sources)
  add_executable(trnsim_bench ${bench_sources})
  target_link_libraries(trnsim_bench PRIVATE trnsim_workloads trnsim_hw trnsim_analysis benchmark::benchmark)
  trnsim_unity(trnsim_bench 4)
  target_compile_definitions(trnsim_bench PRIVATE TRNSIM_BENCH_DIR="${CMAKE_SOURCE_DIR}/tests/bench"
                                                   TRNSIM_BENCH_BINARY="$<TARGET_FILE:trnsim>")
  add_dependencies(trnsim_bench trnsim)
endif()

include(cmake/python_tests.cmake)
include(cmake/touched_tests.cmake)
