# Tests of the Python module by Python; without the module they are skipped, and say so.
file(GLOB python_tests CONFIGURE_DEPENDS tests/python/*_test.py)
file(STRINGS tests/night_tests.txt night REGEX "^[^#]")
list(TRANSFORM night REPLACE " .*" "")
set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS tests/night_tests.txt)
function(trnsim_label_python test speed)
  if(test IN_LIST night)
    set(speed night)
  endif()
  set_tests_properties(${test} PROPERTIES LABELS "python;${speed}" COST 2)
endfunction()
foreach(test IN LISTS python_tests)
  cmake_path(GET test STEM name)
  if(TARGET trnsim_python)
    add_test(NAME Python.${name} COMMAND ${TRNSIM_PYTHON} -B ${test})
    set_tests_properties(Python.${name} PROPERTIES TIMEOUT 1800 ENVIRONMENT
                         "PYTHONPATH=${CMAKE_BINARY_DIR}/python;TRNSIM_BINARY=$<TARGET_FILE:trnsim>")
  else()
    add_test(NAME Python.${name} COMMAND ${CMAKE_COMMAND} -E echo "skipped: the Python module was left out")
    set_tests_properties(Python.${name} PROPERTIES SKIP_REGULAR_EXPRESSION "skipped")
  endif()
  set(speed quick)  # one test a file: nothing of it is quicker
  if(name MATCHES "^(torch_(scripts|vision|inference|ops|cores|rules|example|families|nxd|moves|fsdp|ddp)|exported_graph)_test$")
    set(speed slow)  # networks computed by simulated instructions, or compiled several times
  endif()
  trnsim_label_python(Python.${name} ${speed})
endforeach()
# Trainings with every option against PyTorch, where it is.
add_test(NAME Golden.TwentyRandomTrainingsFollowPyTorch COMMAND sh -c
         "/usr/bin/python3 -c 'import torch' 2>/dev/null || { echo 'skipped: there is no PyTorch'; exit; }; \
exec /usr/bin/python3 -B tests/golden/make/random_shapes.py $<TARGET_FILE:trnsim> 20 20261123"
         WORKING_DIRECTORY ${CMAKE_SOURCE_DIR})
set_tests_properties(Golden.TwentyRandomTrainingsFollowPyTorch PROPERTIES TIMEOUT 1800
                     ENVIRONMENT "TRNSIM_HOME=${CMAKE_SOURCE_DIR}" SKIP_REGULAR_EXPRESSION "skipped: there is no PyTorch")
trnsim_label_python(Golden.TwentyRandomTrainingsFollowPyTorch slow)
