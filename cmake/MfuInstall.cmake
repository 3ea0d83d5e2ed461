# Installs the program, and the library for find_package(mfu).
include(GNUInstallDirs)
include(CMakePackageConfigHelpers)

install(TARGETS mfu RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR})
install(TARGETS mfu_core EXPORT mfuTargets ARCHIVE DESTINATION ${CMAKE_INSTALL_LIBDIR})
install(DIRECTORY ${PROJECT_SOURCE_DIR}/include/mfu DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}
  FILES_MATCHING PATTERN "*.hpp")
install(FILES ${PROJECT_SOURCE_DIR}/LICENSE DESTINATION ${CMAKE_INSTALL_DOCDIR})

set(package_dir ${CMAKE_INSTALL_LIBDIR}/cmake/mfu)
install(EXPORT mfuTargets NAMESPACE mfu:: DESTINATION ${package_dir})
configure_package_config_file(${CMAKE_CURRENT_LIST_DIR}/mfuConfig.cmake.in
  ${PROJECT_BINARY_DIR}/mfuConfig.cmake INSTALL_DESTINATION ${package_dir})
write_basic_package_version_file(${PROJECT_BINARY_DIR}/mfuConfigVersion.cmake
  COMPATIBILITY SameMinorVersion)
install(FILES ${PROJECT_BINARY_DIR}/mfuConfig.cmake ${PROJECT_BINARY_DIR}/mfuConfigVersion.cmake
  DESTINATION ${package_dir})
