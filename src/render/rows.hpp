// Answers of one call that are a line each.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

#include "mfu/error.hpp"
#include "mfu/report.hpp"

namespace mfu {

// One of many answers of one call (`calc --rows`): its object on one line.
struct RowPlace {
  std::size_t number = 0;  // from 1
  std::string id;          // as the row has it; empty: none
};
[[nodiscard]] std::string render_row_json(const Report& report, const RowPlace& row);
[[nodiscard]] std::string render_row_error_json(const Error& error, std::string_view command,
                                                std::string_view tool_version, int exit_code,
                                                const RowPlace& row);

}  // namespace mfu
