# What ./dev test --changed and ctest -L read: which tests a change of a folder touches, and which of them are quick.
# Each test has two labels: its folder below tests/, and quick, slow (tests/slow_tests.txt) or night
# (tests/night_tests.txt).

# The folders whose libraries a target is linked with, directly or not.
function(trnsim_linked_folders target out)
  set(waiting ${target})
  set(seen)
  set(folders)
  while(waiting)
    list(POP_FRONT waiting one)
    if(one IN_LIST seen)
      continue()
    endif()
    list(APPEND seen ${one})
    string(REGEX REPLACE "^trnsim_" "" folder ${one})
    if(IS_DIRECTORY ${CMAKE_SOURCE_DIR}/${folder})
      list(APPEND folders ${folder})
    endif()
    get_target_property(linked ${one} LINK_LIBRARIES)
    if(linked)
      list(FILTER linked INCLUDE REGEX "^trnsim_")
      list(APPEND waiting ${linked})
    endif()
  endwhile()
  set(${out} ${folders} PARENT_SCOPE)
endfunction()

get_property(targets DIRECTORY PROPERTY BUILDSYSTEM_TARGETS)
list(FILTER targets INCLUDE REGEX "^test_")
set(touched "")
foreach(target IN LISTS targets)
  string(REGEX REPLACE "^test_" "" name ${target})
  trnsim_linked_folders(${target} folders)
  get_target_property(depends ${target} MANUALLY_ADDED_DEPENDENCIES)
  if("trnsim" IN_LIST depends)  # it runs the binary
    trnsim_linked_folders(trnsim folders)
    list(APPEND folders cli)
  endif()
  if(name STREQUAL "base")  # its rules read every source
    list(APPEND folders ${library_folders} validation cli python tests)
  endif()
  list(REMOVE_DUPLICATES folders)
  list(JOIN folders " " folders)
  string(APPEND touched "${target} ${name} tests/${name} ${folders}\n")
endforeach()
if(TARGET trnsim_python)
  string(APPEND touched "trnsim_python python tests/python python\n")
endif()
# A line a target: what to build, the label of its tests, the folders that touch it.
file(CONFIGURE OUTPUT ${CMAKE_BINARY_DIR}/generated/touched_tests.txt CONTENT "${touched}" @ONLY)

# The names of tests are known to ctest alone, when it reads what their programs have listed.
list(TRANSFORM targets REPLACE "^test_" "" OUTPUT_VARIABLE names)
list(JOIN names " " names)
configure_file(cmake/test_labels.cmake.in ${CMAKE_BINARY_DIR}/generated/test_labels.cmake @ONLY)
set_property(DIRECTORY APPEND PROPERTY TEST_INCLUDE_FILES ${CMAKE_BINARY_DIR}/generated/test_labels.cmake)
