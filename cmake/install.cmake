# What is installed: the binary with its manual page and completion, the library with its headers, and the data of both.
include(GNUInstallDirs)
include(CMakePackageConfigHelpers)
set(package_dir ${CMAKE_INSTALL_LIBDIR}/cmake/trnsim)
set(header_dir ${CMAKE_INSTALL_INCLUDEDIR}/trnsim)  # of all folders: "base/..." would be in somebody's way elsewhere
set(library_folders base isa hw runtime frontend workloads analysis trnsim)

install(TARGETS trnsim RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR} COMPONENT binary)

# The manual page and bash's completion are printed by the binary itself.
set(pages_dir ${CMAKE_BINARY_DIR}/generated)
file(MAKE_DIRECTORY ${pages_dir})
add_custom_command(OUTPUT ${pages_dir}/trnsim.1 ${pages_dir}/trnsim.bash
                   COMMAND trnsim completion man > ${pages_dir}/trnsim.1
                   COMMAND trnsim completion bash > ${pages_dir}/trnsim.bash
                   DEPENDS trnsim VERBATIM)
add_custom_target(trnsim_pages ALL DEPENDS ${pages_dir}/trnsim.1 ${pages_dir}/trnsim.bash)
# All that an installation copies from the build folder: ./dev install builds this. The Python module joins it.
add_custom_target(trnsim_installed DEPENDS trnsim_pages)
install(FILES ${pages_dir}/trnsim.1 DESTINATION ${CMAKE_INSTALL_MANDIR}/man1 COMPONENT binary)
install(FILES ${pages_dir}/trnsim.bash RENAME trnsim COMPONENT binary
        DESTINATION ${CMAKE_INSTALL_DATADIR}/bash-completion/completions)

# Machines, stacks, workloads, prices: where base::data_path looks for them.
foreach(folder IN LISTS library_folders)
  file(GLOB_RECURSE files CONFIGURE_DEPENDS RELATIVE ${CMAKE_SOURCE_DIR} ${folder}/*.toml)
  foreach(file IN LISTS files)
    cmake_path(GET file PARENT_PATH parent)
    install(FILES ${file} DESTINATION ${CMAKE_INSTALL_DATADIR}/trnsim/${parent} COMPONENT binary)
  endforeach()
endforeach()
install(FILES LICENSE DESTINATION ${CMAKE_INSTALL_DOCDIR} COMPONENT binary RENAME copyright)

# The headers of the API, include/trnsim/*.h, and those that they include.
file(GLOB waiting CONFIGURE_DEPENDS RELATIVE ${CMAKE_SOURCE_DIR}/include include/trnsim/*.h)
set(headers)
while(waiting)
  list(POP_FRONT waiting header)
  if(header IN_LIST headers)
    continue()
  endif()
  list(APPEND headers ${header})
  cmake_path(GET header PARENT_PATH parent)
  set(file ${header})
  if(EXISTS ${CMAKE_SOURCE_DIR}/include/${header})
    set(file include/${header})
  endif()
  install(FILES ${file} DESTINATION ${header_dir}/${parent} COMPONENT library)
  set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${file})
  file(STRINGS ${file} includes REGEX "^ *# *include *\"[^/\"]+/[^\"]+\"")
  list(TRANSFORM includes REPLACE "^ *# *include *\"([^\"]+)\".*" "\\1")
  list(APPEND waiting ${includes})
endwhile()

set(targets trnsim_options)
foreach(folder IN LISTS library_folders)
  set_target_properties(trnsim_${folder} PROPERTIES EXPORT_NAME ${folder})
  list(APPEND targets trnsim_${folder})
endforeach()
set_target_properties(trnsim_options PROPERTIES EXPORT_NAME options)
list(TRANSFORM library_folders PREPEND trnsim_ OUTPUT_VARIABLE libraries)
add_dependencies(trnsim_installed trnsim ${libraries})
install(TARGETS ${targets} EXPORT trnsimTargets COMPONENT library
        ARCHIVE DESTINATION ${CMAKE_INSTALL_LIBDIR} INCLUDES DESTINATION ${header_dir})
install(EXPORT trnsimTargets NAMESPACE trnsim:: DESTINATION ${package_dir} COMPONENT library)
configure_package_config_file(cmake/trnsimConfig.cmake.in ${CMAKE_BINARY_DIR}/trnsimConfig.cmake
                              INSTALL_DESTINATION ${package_dir} PATH_VARS CMAKE_INSTALL_DATADIR)
write_basic_package_version_file(${CMAKE_BINARY_DIR}/trnsimConfigVersion.cmake COMPATIBILITY SameMinorVersion)
install(FILES ${CMAKE_BINARY_DIR}/trnsimConfig.cmake ${CMAKE_BINARY_DIR}/trnsimConfigVersion.cmake
              cmake/dependencies.cmake cmake/data_folder.cpp DESTINATION ${package_dir} COMPONENT library)
