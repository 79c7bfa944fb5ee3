# Copyright 2026 The lanewise authors
# SPDX-License-Identifier: Apache-2.0

# `cmake --install`: headers, libraries, package config, pkg-config, and the command if it was built.

include(CMakePackageConfigHelpers)

set(lanewise_package_dir ${CMAKE_INSTALL_LIBDIR}/cmake/lanewise)

install(TARGETS lanewise lanewise_c EXPORT lanewise-targets
  ARCHIVE DESTINATION ${CMAKE_INSTALL_LIBDIR}
  LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR})
install(DIRECTORY include/lanewise DESTINATION ${CMAKE_INSTALL_INCLUDEDIR})
install(EXPORT lanewise-targets NAMESPACE lanewise:: DESTINATION ${lanewise_package_dir})
install(FILES LICENSE DESTINATION ${CMAKE_INSTALL_DOCDIR})
if(LANEWISE_BUILD_TOOLS)
  install(TARGETS lanewise_command RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR})
endif()

configure_package_config_file(cmake/lanewise-config.cmake.in
  ${PROJECT_BINARY_DIR}/lanewise-config.cmake INSTALL_DESTINATION ${lanewise_package_dir})
write_basic_package_version_file(${PROJECT_BINARY_DIR}/lanewise-config-version.cmake
  COMPATIBILITY SameMinorVersion)
install(FILES
  ${PROJECT_BINARY_DIR}/lanewise-config.cmake
  ${PROJECT_BINARY_DIR}/lanewise-config-version.cmake
  DESTINATION ${lanewise_package_dir})

# A static library passes its own dependencies on to whoever links it; a C linker has to be told of
# the C++ standard library too.
get_target_property(lanewise_type lanewise TYPE)
set(lanewise_requires "fmt tbb libhwy")
if(lanewise_type STREQUAL "STATIC_LIBRARY")
  set(lanewise_requires_line "Requires: ${lanewise_requires}")
  set(lanewise_c_requires_line "Requires: ${lanewise_requires}")
  set(lanewise_c_libs " -llanewise -lstdc++ -lm")
else()
  set(lanewise_requires_line "Requires.private: ${lanewise_requires}")
  set(lanewise_c_requires_line "Requires.private: lanewise")
  set(lanewise_c_libs "")
endif()
# Relative to the file itself, so that `cmake --install --prefix` and moved trees work, unless the
# directories are absolute.
set(lanewise_pc_prefix ${CMAKE_INSTALL_PREFIX})
if(NOT IS_ABSOLUTE ${CMAKE_INSTALL_LIBDIR})
  file(RELATIVE_PATH lanewise_pc_prefix "/${CMAKE_INSTALL_LIBDIR}/pkgconfig" "/")
  string(PREPEND lanewise_pc_prefix "\${pcfiledir}/")
endif()
foreach(directory INCLUDEDIR LIBDIR)
  set(lanewise_pc_${directory} ${CMAKE_INSTALL_${directory}})
  if(NOT IS_ABSOLUTE ${CMAKE_INSTALL_${directory}})
    string(PREPEND lanewise_pc_${directory} "\${prefix}/")
  endif()
endforeach()
foreach(package lanewise lanewise-c)
  configure_file(cmake/${package}.pc.in ${PROJECT_BINARY_DIR}/${package}.pc @ONLY)
  install(FILES ${PROJECT_BINARY_DIR}/${package}.pc
    DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig)
endforeach()
