# ./dev package: two Debian packages, the binary with its data and the library for programs.
set(CPACK_GENERATOR DEB)
set(CPACK_PACKAGE_NAME trnsim)
set(CPACK_PACKAGE_CONTACT "trnsim developers <trnsim@localhost>")
set(CPACK_PACKAGE_DESCRIPTION_SUMMARY "simulator and performance model of AWS Trainium")
set(CPACK_COMPONENT_BINARY_DESCRIPTION "Says what a training job takes and costs on AWS Trainium, where its time goes and whether
its numbers hold: by running the job's compiled instructions on a simulated machine.")
set(CPACK_PACKAGING_INSTALL_PREFIX /usr)
set(CPACK_STRIP_FILES ON)
set(CPACK_COMPONENTS_ALL binary library)
set(CPACK_DEB_COMPONENT_INSTALL ON)
set(CPACK_DEBIAN_FILE_NAME DEB-DEFAULT)
set(CPACK_DEBIAN_ENABLE_COMPONENT_DEPENDS OFF)
set(CPACK_DEBIAN_BINARY_PACKAGE_NAME trnsim)
set(CPACK_DEBIAN_BINARY_PACKAGE_SECTION science)
set(CPACK_DEBIAN_BINARY_PACKAGE_SHLIBDEPS ON)
set(CPACK_DEBIAN_BINARY_PACKAGE_RECOMMENDS python3-numpy)  # of the Python module
set(CPACK_DEBIAN_LIBRARY_PACKAGE_NAME libtrnsim-dev)
set(CPACK_DEBIAN_LIBRARY_PACKAGE_SECTION libdevel)
set(CPACK_COMPONENT_LIBRARY_DESCRIPTION "The headers and static libraries of trnsim, for find_package(trnsim).")
# What dependencies.cmake asks for, and the data, which come with the binary.
string(JOIN ", " CPACK_DEBIAN_LIBRARY_PACKAGE_DEPENDS "trnsim (= ${PROJECT_VERSION})" pkg-config libsystemc-dev
       libboost-graph-dev libcsv-dev libfmt-dev libspdlog-dev libtomlplusplus-dev nlohmann-json3-dev libpcre2-dev
       libutf8proc-dev libsqlite3-dev libsentencepiece-dev libpng-dev libjpeg62-turbo-dev zlib1g-dev libzstd-dev)
set(CMAKE_SKIP_INSTALL_ALL_DEPENDENCY ON)  # tests and benchmarks are not packaged
include(CPack)
