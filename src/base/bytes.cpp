#include "base/bytes.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zlib.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <utility>
#include <vector>

#include "mfu/error.hpp"

namespace mfu {

namespace {

constexpr std::size_t kRawBytes = 128 * 1024;
constexpr unsigned char kGzipMagic[2] = {0x1f, 0x8b};

// Not strerror(): its text depends on the locale.
Error cannot_read(const std::string& path, int code) {
  std::string message;
  std::string hint;
  switch (code) {
    case ENOENT:
    case ENOTDIR:
      message = "no such file";
      break;
    case EACCES:
    case EPERM:
      message = "permission denied";
      hint = "check the owner and mode of the file and of the folders above it";
      break;
    case EISDIR:
      message = "is a directory";
      hint = "name the files in it";
      break;
    case EMFILE:
    case ENFILE:
      message = "too many open files";
      break;
    case EBADF:
      message = "is not open for reading";
      break;
    default:
      message = "cannot be read (error " + std::to_string(code) + ")";
  }
  Place place;
  place.file = path;
  return Error(ErrorKind::io, std::move(message), std::move(place), std::move(hint));
}

}  // namespace

struct ByteSource::State {
  std::string name;
  int descriptor = -1;
  bool owns_descriptor = false;
  std::string_view memory;
  bool from_memory = false;
  std::size_t piece = SIZE_MAX;

  std::uint64_t raw_bytes = 0;
  bool raw_end = false;

  bool gzip = false;
  bool cut_off = false;
  bool between_members = false;  // a gzip member has ended and nothing of the next is known
  z_stream inflater{};
  bool inflater_ready = false;
  std::vector<char> raw;  // raw bytes that wait: for the inflater, or read to see the magic
  std::size_t raw_at = 0;
  std::size_t raw_size = 0;

  std::vector<char> head;  // decompressed bytes that peek() has read ahead
  std::size_t head_at = 0;

  State() = default;
  State(const State&) = delete;
  State& operator=(const State&) = delete;
  ~State() {
    if (inflater_ready) inflateEnd(&inflater);
    if (owns_descriptor) ::close(descriptor);
  }

  std::size_t read_raw(char* out, std::size_t capacity) {
    if (raw_end) return 0;
    std::size_t count = 0;
    if (from_memory) {
      count = std::min({capacity, piece, memory.size()});
      std::memcpy(out, memory.data(), count);
      memory.remove_prefix(count);
    } else {
      ssize_t result = 0;
      do {
        result = ::read(descriptor, out, capacity);
      } while (result < 0 && errno == EINTR);
      if (result < 0) throw cannot_read(name, errno);
      count = static_cast<std::size_t>(result);
    }
    raw_bytes += count;
    if (count == 0) raw_end = true;
    return count;
  }

  // Moves what is left to the front and reads on. False at the end of the raw bytes.
  bool refill_raw() {
    const std::size_t left = raw_size - raw_at;
    if (left > 0 && raw_at > 0) std::memmove(raw.data(), raw.data() + raw_at, left);
    raw_at = 0;
    raw_size = left;
    const std::size_t count = read_raw(raw.data() + raw_size, raw.size() - raw_size);
    raw_size += count;
    return count > 0;
  }

  bool at_magic() const {
    return raw_size - raw_at >= 2 && std::memcmp(raw.data() + raw_at, kGzipMagic, 2) == 0;
  }

  void start() {
    raw.resize(kRawBytes);
    while (raw_size < 2 && refill_raw()) {
    }
    gzip = at_magic();
    if (!gzip) return;
    // 15: the largest window; + 16: a gzip header and trailer, which zlib checks.
    if (inflateInit2(&inflater, 15 + 16) != Z_OK) {
      throw Error(ErrorKind::io, "no memory to decompress gzip data", place());
    }
    inflater_ready = true;
  }

  Place place() const {
    Place where;
    where.file = name;
    where.byte_offset = static_cast<std::int64_t>(raw_bytes - (raw_size - raw_at));
    return where;
  }

  // After a member: true when another one follows. Zero bytes are padding (tapes, block devices).
  bool next_member() {
    for (;;) {
      while (raw_at < raw_size && raw[raw_at] == '\0') ++raw_at;
      if (raw_size - raw_at >= 2) break;
      if (!refill_raw()) break;
    }
    if (raw_at == raw_size) return false;
    if (raw_size - raw_at == 1 && static_cast<unsigned char>(raw[raw_at]) == kGzipMagic[0]) {
      cut_off = true;
      return false;
    }
    if (!at_magic()) {
      throw Error(ErrorKind::format, "bytes after the end of the gzip data", place(),
                  "the file may be damaged: check it with gzip -t");
    }
    inflateReset(&inflater);
    between_members = false;
    return true;
  }

  std::size_t read_gzip(char* out, std::size_t capacity) {
    inflater.next_out = reinterpret_cast<Bytef*>(out);
    const auto room = static_cast<uInt>(std::min<std::size_t>(capacity, 1U << 30));
    inflater.avail_out = room;
    while (inflater.avail_out == room && !cut_off) {
      if (between_members && !next_member()) return 0;
      if (raw_at == raw_size && !refill_raw()) {
        cut_off = true;
        break;
      }
      inflater.next_in = reinterpret_cast<Bytef*>(raw.data() + raw_at);
      inflater.avail_in = static_cast<uInt>(raw_size - raw_at);
      const int result = inflate(&inflater, Z_NO_FLUSH);
      raw_at = raw_size - inflater.avail_in;
      if (result == Z_STREAM_END) {
        between_members = true;
      } else if (result != Z_OK && result != Z_BUF_ERROR) {
        throw Error(ErrorKind::format,
                    result == Z_MEM_ERROR ? "no memory to decompress gzip data"
                                          : "the gzip data is corrupt",
                    place(), "the file may have been damaged in transfer: check it with gzip -t");
      }
    }
    return room - inflater.avail_out;
  }

  std::size_t read(char* out, std::size_t capacity) {
    if (capacity == 0) return 0;
    if (gzip) return read_gzip(out, capacity);
    if (raw_at < raw_size) {
      const std::size_t count = std::min(capacity, raw_size - raw_at);
      std::memcpy(out, raw.data() + raw_at, count);
      raw_at += count;
      return count;
    }
    return read_raw(out, capacity);
  }
};

ByteSource::ByteSource(std::unique_ptr<State> state) : state_(std::move(state)) {}
ByteSource::ByteSource(ByteSource&&) noexcept = default;
ByteSource& ByteSource::operator=(ByteSource&&) noexcept = default;
ByteSource::~ByteSource() = default;

ByteSource ByteSource::open(const std::string& path) {
  auto state = std::make_unique<State>();
  state->name = path;
  if (path == "-") {
    state->descriptor = STDIN_FILENO;
  } else {
    state->descriptor = ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
    if (state->descriptor < 0) throw cannot_read(path, errno);
    state->owns_descriptor = true;
    struct stat info {};
    if (::fstat(state->descriptor, &info) == 0 && S_ISDIR(info.st_mode)) {
      throw cannot_read(path, EISDIR);
    }
  }
  state->start();
  return ByteSource(std::move(state));
}

ByteSource ByteSource::from_memory(std::string_view bytes, std::string name, std::size_t piece) {
  auto state = std::make_unique<State>();
  state->name = std::move(name);
  state->memory = bytes;
  state->from_memory = true;
  state->piece = std::max<std::size_t>(piece, 1);
  state->start();
  return ByteSource(std::move(state));
}

std::size_t ByteSource::read(char* out, std::size_t capacity) {
  State& state = *state_;
  if (state.head_at < state.head.size()) {
    const std::size_t count = std::min({capacity, state.piece, state.head.size() - state.head_at});
    std::memcpy(out, state.head.data() + state.head_at, count);
    state.head_at += count;
    if (state.head_at == state.head.size()) std::vector<char>().swap(state.head);
    return count;
  }
  state.head_at = 0;
  return state.read(out, std::min(capacity, state.piece));
}

std::string_view ByteSource::peek(std::size_t count) {
  State& state = *state_;
  std::size_t have = state.head.size();
  state.head.resize(std::max(count, have));
  while (have < count) {
    const std::size_t more = state.read(state.head.data() + have, count - have);
    if (more == 0) break;
    have += more;
  }
  state.head.resize(have);
  return {state.head.data(), std::min(have, count)};
}

const std::string& ByteSource::name() const noexcept { return state_->name; }
bool ByteSource::gzip() const noexcept { return state_->gzip; }
bool ByteSource::cut_off() const noexcept { return state_->cut_off; }
std::uint64_t ByteSource::raw_bytes() const noexcept { return state_->raw_bytes; }

}  // namespace mfu
