#include "base/foreign.hpp"

#include <array>
#include <utility>

namespace mfu {
namespace {

constexpr std::array<ForeignBytes, 7> kForeignBytes{{
    {ForeignKind::zstd, "\x28\xB5\x2F\xFD", "zstd data", "zstd -dc", ""},
    {ForeignKind::zip, "PK\x03\x04", "a zip archive", "", "unpack it first"},
    {ForeignKind::bzip2, "BZh", "bzip2 data", "bzip2 -dc", ""},
    {ForeignKind::xz, "\xFD\x37zXZ", "xz data", "xz -dc", ""},
    {ForeignKind::parquet, "PAR1", "a Parquet file", "", ""},
    {ForeignKind::utf16, "\xFF\xFE", "UTF-16 text", "", "save it as UTF-8"},
    {ForeignKind::utf16, "\xFE\xFF", "UTF-16 text", "", "save it as UTF-8"},
}};

}  // namespace

const ForeignBytes* foreign_bytes(std::string_view head) noexcept {
  for (const ForeignBytes& foreign : kForeignBytes) {
    if (head.starts_with(foreign.bytes)) return &foreign;
  }
  return nullptr;
}

Error foreign_error(const ForeignBytes& found, std::string_view command, std::string_view otherwise,
                    Place place) {
  std::string hint(found.hint.empty() ? otherwise : found.hint);
  if (!found.unpack.empty()) {
    hint = "decompress it first: " + std::string(found.unpack) + " FILE | mfu " +
           std::string(command) + " -";
  }
  return Error(ErrorKind::format, "is " + std::string(found.called), std::move(place),
               std::move(hint));
}

}  // namespace mfu
