// The model that a command line or a run file names: a preset, a file, or an object.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/bytes.hpp"
#include "mfu/error.hpp"
#include "mfu/model.hpp"
#include "mfu/read.hpp"

namespace mfu::app {

// All bytes of a file, decompressed where they are gzip; beyond `most` it is not read on. Throws
// Error{io}.
[[nodiscard]] std::string read_text(const std::string& path, InputInfo& info,
                                    std::size_t most = SIZE_MAX);
[[nodiscard]] std::string read_text(ByteSource& source, InputInfo& info,
                                    std::size_t most = SIZE_MAX);

// `name`: a JSON object, a preset, or a file (or a folder with a config.json), in this order.
// Throws what parse_model() and find_model() throw.
[[nodiscard]] ModelShape load_model(const std::string& name, std::vector<InputInfo>& files,
                                    Notes& notes);

// Notes where the size that a name states ("7b", "8x7b") or the user states is far from the size of
// the shape, with both numbers.
void check_size(const ModelShape& model, std::optional<double> stated, Notes& notes);

}  // namespace mfu::app
