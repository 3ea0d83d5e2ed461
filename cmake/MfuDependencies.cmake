# Everything comes from the distribution, through find_package.
find_package(fmt REQUIRED)
find_package(nlohmann_json REQUIRED)
find_package(ZLIB REQUIRED)
find_package(spdlog REQUIRED)
find_package(CLI11 REQUIRED)

# Distributions ship fmt and spdlog as shared objects; a static build takes their headers.
if(MFU_STATIC)
  add_library(mfu_fmt ALIAS fmt::fmt-header-only)
  add_library(mfu_spdlog ALIAS spdlog::spdlog_header_only)
  set(ZLIB_USE_STATIC_LIBS ON)
else()
  add_library(mfu_fmt ALIAS fmt::fmt)
  add_library(mfu_spdlog ALIAS spdlog::spdlog)
endif()
