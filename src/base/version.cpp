#include "mfu/version.hpp"

namespace mfu {

std::string_view version() noexcept { return MFU_VERSION; }

}  // namespace mfu
