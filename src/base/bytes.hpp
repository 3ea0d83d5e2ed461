// Bytes of a file, standard input or memory, decompressed where they are gzip, in pieces: memory
// does not depend on the size.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

#include "base/temporary.hpp"

namespace mfu {

class ByteSource {
 public:
  // "-" is standard input. gzip is told by its first bytes, also with several members.
  // Throws Error{io}: no such file, a directory, no permission.
  [[nodiscard]] static ByteSource open(const std::string& path);

  // `bytes` must outlive the source. `piece`: the most that one read() hands out, for tests.
  [[nodiscard]] static ByteSource from_memory(std::string_view bytes, std::string name,
                                              std::size_t piece = SIZE_MAX);
  template <TemporaryString Text>
  static ByteSource from_memory(Text&& bytes, std::string name,
                                std::size_t piece = SIZE_MAX) = delete;

  ByteSource(ByteSource&&) noexcept;
  ByteSource& operator=(ByteSource&&) noexcept;
  ~ByteSource();

  // Up to `capacity` decompressed bytes; 0 at the end. Throws Error{io} when reading fails and
  // Error{format} when gzip data is corrupt. gzip data that stops too early is an ordinary end with
  // cut_off() set: whether that is tolerable is for the reader to say.
  [[nodiscard]] std::size_t read(char* out, std::size_t capacity);

  // The first bytes, at most `count`, without consuming them. Valid until the next call of any
  // kind. Only before the first read().
  [[nodiscard]] std::string_view peek(std::size_t count);

  [[nodiscard]] const std::string& name() const noexcept;  // as the user named it
  [[nodiscard]] bool gzip() const noexcept;
  [[nodiscard]] bool cut_off() const noexcept;
  [[nodiscard]] std::uint64_t raw_bytes() const noexcept;  // before decompression, so far

 private:
  struct State;
  explicit ByteSource(std::unique_ptr<State> state);
  std::unique_ptr<State> state_;
};

}  // namespace mfu
