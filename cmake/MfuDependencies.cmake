# Everything comes from the distribution, through find_package.
if(MFU_STATIC)
  # Archives only: find_package(ZLIB) and SQLite3 would take the shared objects.
  set(CMAKE_FIND_LIBRARY_SUFFIXES .a)
endif()
find_package(Threads REQUIRED)
find_package(fmt REQUIRED)
find_package(nlohmann_json REQUIRED)
find_package(ZLIB REQUIRED)
find_package(SQLite3 REQUIRED)
find_package(spdlog REQUIRED)
find_package(CLI11 REQUIRED)

if(MFU_STATIC)
  # Distributions ship fmt and spdlog as shared objects; a static build takes their headers.
  # spdlog's own header-only target links the shared fmt, so it is not used.
  set(MFU_FMT fmt::fmt-header-only)
  add_library(mfu_spdlog INTERFACE)
  target_compile_definitions(mfu_spdlog INTERFACE SPDLOG_FMT_EXTERNAL)
  target_include_directories(mfu_spdlog SYSTEM INTERFACE
    $<TARGET_PROPERTY:spdlog::spdlog_header_only,INTERFACE_INCLUDE_DIRECTORIES>)
  target_link_libraries(mfu_spdlog INTERFACE fmt::fmt-header-only Threads::Threads)
else()
  set(MFU_FMT fmt::fmt)
  add_library(mfu_spdlog ALIAS spdlog::spdlog)
endif()
add_library(mfu_fmt ALIAS ${MFU_FMT})

set(MFU_SQLITE SQLite::SQLite3)
if(MFU_STATIC)
  # What its archive needs; the shared object brings it along.
  list(APPEND MFU_SQLITE Threads::Threads ${CMAKE_DL_LIBS} m)
endif()
