# The Python module, where Python's and pybind11's headers are: build/python/trnsim, for PYTHONPATH and installation.
# Debian's Python: another one that comes first in PATH has neither Debian's NumPy nor its headers.
find_program(TRNSIM_PYTHON NAMES python3 PATHS /usr/bin NO_DEFAULT_PATH)
set(missing)
if(TRNSIM_PYTHON)
  execute_process(COMMAND ${TRNSIM_PYTHON} -c "import sysconfig, numpy; print(sysconfig.get_paths()['include'], numpy.get_include(), sysconfig.get_config_var('EXT_SUFFIX'), sep=';')"
                  OUTPUT_VARIABLE found OUTPUT_STRIP_TRAILING_WHITESPACE ERROR_QUIET RESULT_VARIABLE failed)
  if(failed)
    set(missing python3-numpy)
  else()
    list(GET found 0 python_headers)
    list(GET found 1 numpy_headers)
    list(GET found 2 python_suffix)
    if(NOT EXISTS ${python_headers}/Python.h)
      set(missing python3-dev)
    endif()
  endif()
else()
  set(missing python3)
endif()
find_path(pybind11_headers pybind11/pybind11.h)
if(NOT pybind11_headers)
  list(APPEND missing pybind11-dev)
endif()
if(TRNSIM_SANITIZE)  # its runtime has to be loaded before Python itself
  list(APPEND missing "a Python with the sanitizer's runtime")
endif()
if(missing)
  list(JOIN missing ", " missing)
  message(STATUS "the Python module is left out: ${missing} not found")
  file(REMOVE_RECURSE ${CMAKE_BINARY_DIR}/python)  # of a configuration that had it: tests look whether it is there
  return()
endif()

set(python_dir ${CMAKE_BINARY_DIR}/python/trnsim)
file(GLOB python_sources CONFIGURE_DEPENDS python/*.cpp python/*/*.cpp)
add_library(trnsim_python MODULE ${python_sources})
set_target_properties(trnsim_python PROPERTIES PREFIX "" OUTPUT_NAME _core SUFFIX ${python_suffix}
                      LIBRARY_OUTPUT_DIRECTORY ${python_dir} CXX_VISIBILITY_PRESET hidden)
target_include_directories(trnsim_python SYSTEM PRIVATE ${python_headers} ${numpy_headers} ${pybind11_headers})
target_link_libraries(trnsim_python PRIVATE trnsim_validation)
trnsim_unity(trnsim_python 6)
# Measured: pybind11 costs a file 10 s of the compiler at -O3. With -Og kernels are traced 15 % slower than with -O2: the
# linker may take its copies of templates, in which nothing is inlined.
target_compile_options(trnsim_python PRIVATE $<$<CONFIG:Release>:-O1>)

# The package's own files lie beside the module: as they are, so that an edit needs no build.
file(GLOB_RECURSE python_files CONFIGURE_DEPENDS RELATIVE ${CMAKE_SOURCE_DIR}/python/trnsim python/trnsim/*.py
     python/trnsim/*.pyi python/trnsim/py.typed)
foreach(file IN LISTS python_files)
  cmake_path(GET file PARENT_PATH parent)
  file(MAKE_DIRECTORY ${python_dir}/${parent})
  file(CREATE_LINK ${CMAKE_SOURCE_DIR}/python/trnsim/${file} ${python_dir}/${file} SYMBOLIC COPY_ON_ERROR)
  install(FILES python/trnsim/${file} DESTINATION lib/python3/dist-packages/trnsim/${parent} COMPONENT binary)
endforeach()
file(GLOB_RECURSE linked RELATIVE ${python_dir} ${python_dir}/*.py ${python_dir}/*.pyi)
list(REMOVE_ITEM linked ${python_files})
foreach(file IN LISTS linked)  # of files that are gone
  file(REMOVE ${python_dir}/${file})
endforeach()
# Measured: a script that names the simulated device waits 0.2 s for the compiler of its modules. Python keeps what it has
# compiled, but not under -B, as tests run it, nor in folders of root.
list(FILTER python_files INCLUDE REGEX "[.]py$")
list(TRANSFORM python_files PREPEND ${CMAKE_SOURCE_DIR}/python/trnsim/ OUTPUT_VARIABLE compiled)
add_custom_command(OUTPUT ${CMAKE_BINARY_DIR}/python_bytecode
                   COMMAND ${TRNSIM_PYTHON} -m compileall -q ${python_dir}
                   COMMAND ${CMAKE_COMMAND} -E touch ${CMAKE_BINARY_DIR}/python_bytecode DEPENDS ${compiled} VERBATIM)
add_custom_target(trnsim_bytecode ALL DEPENDS ${CMAKE_BINARY_DIR}/python_bytecode)
install(DIRECTORY ${python_dir}/ DESTINATION lib/python3/dist-packages/trnsim COMPONENT binary
        FILES_MATCHING PATTERN "*.pyc")
add_dependencies(trnsim_installed trnsim_python trnsim_bytecode)
install(TARGETS trnsim_python LIBRARY DESTINATION lib/python3/dist-packages/trnsim COMPONENT binary)
