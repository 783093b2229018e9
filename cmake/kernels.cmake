# Host kernels are compiled once per instruction set and chosen at run time (isa/kernels/dispatch.cpp).
# -O3 in every build type: loops that are not vector code would dominate a debug run.
# -ftree-slp-vectorize: the rest of isa/ is compiled without (CMakeLists.txt).
# -fno-trapping-math lets selects become vector code; it changes no result.
# No precompiled header: code of the standard library must not be compiled for more than the oldest host.
set(kernel_flags -O3 -ftree-slp-vectorize -fno-trapping-math -fno-math-errno)
if(TRNSIM_SANITIZE STREQUAL "thread")
  list(APPEND kernel_flags -fno-sanitize=thread -DTRNSIM_ACCESSES_BY_CALL)  # isa/kernels/accesses.h
endif()
set(kernel_avx2 -mavx2 -mfma -mf16c -mbmi2)
set(kernel_avx512 ${kernel_avx2} -mavx512f -mavx512bw -mavx512dq -mavx512vl -mprefer-vector-width=512)
set(kernel_flags_generic ${kernel_flags})
set(kernel_flags_avx2 ${kernel_flags} ${kernel_avx2})
set(kernel_flags_avx512 ${kernel_flags} ${kernel_avx512})
set(kernel_flags_avx512bf16 ${kernel_flags} ${kernel_avx512} -mavx512bf16)
set(kernel_flags_amx ${kernel_flags} ${kernel_avx512} -mamx-tile -mamx-bf16)
foreach(target generic avx2 avx512 avx512bf16 amx)
  set_source_files_properties(isa/kernels/target_${target}.cpp PROPERTIES
                              COMPILE_OPTIONS "${kernel_flags_${target}}" SKIP_PRECOMPILE_HEADERS ON)
endforeach()
