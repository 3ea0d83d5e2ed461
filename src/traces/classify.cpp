#include "traces/classify.hpp"

#include <cstring>

#include "traces/text.hpp"

namespace mfu::traces {

namespace {

char lower(char c) noexcept { return c >= 'A' && c <= 'Z' ? static_cast<char>(c + 32) : c; }

bool is_lower(char c) noexcept { return c >= 'a' && c <= 'z'; }

// Lower case without underscores: libraries write all_reduce, allReduce and AllReduce.
std::string folded(std::string_view name) {
  std::string out;
  out.reserve(name.size());
  for (const char c : name) {
    if (c != '_') out += lower(c);
  }
  return out;
}

// Whether `part` (folded) stands in `name` from the start of a word on: the all-reduce of
// "fused_all_reduce" and "ncclAllReduce", and not that of "small_reduce". `at`: where, in the
// folded name.
class Words {
 public:
  explicit Words(std::string_view name) {
    text_.reserve(name.size());
    starts_.reserve(name.size());
    char before = '_';
    for (const char c : name) {
      if (c != '_') {
        text_ += lower(c);
        // A capital behind a small letter or a digit begins a word; a small one behind a letter
        // does not.
        const bool letter = is_lower(lower(c));
        const bool inside = is_lower(lower(before)) && (is_lower(c) || !is_lower(before));
        starts_.push_back(letter && !inside);
      }
      before = c;
    }
  }
  [[nodiscard]] const std::string& text() const noexcept { return text_; }
  [[nodiscard]] std::size_t find(std::string_view part, std::size_t from = 0) const noexcept {
    std::size_t at = text_.find(part, from);
    while (at != std::string::npos && !starts_[at]) at = text_.find(part, at + 1);
    return at;
  }

 private:
  std::string text_;
  std::vector<bool> starts_;
};

// Parts of folded names that only communication libraries have.
constexpr std::string_view kLibraries[] = {
    "nccl",     // NCCL: ncclKernel, ncclDevKernel, ncclSymkDevKernel
    "rccl",     // RCCL outside its ncclDevKernel names
    "oneccl",   // Intel
    "hccl",     // Ascend, Gaudi
    "mscclpp",  // Microsoft
    "msccl",
    "nvshmem",
    "rocshmem",
    "multimem",           // symmetric memory over NVSwitch
    "crossdevicereduce",  // vLLM
    "quickreduce",        // vLLM on ROCm
    "deepep::",           // DeepEP: dispatch, combine and their preparation
    "userbuffers",        // Transformer Engine
};

// Collectives by name, the longer first where one holds another.
struct Kind {
  std::string_view part;
  std::string_view kind;
};
constexpr Kind kCollectives[] = {
    {"allreduce", "allreduce"}, {"reducescatter", "reducescatter"}, {"allgather", "allgather"},
    {"alltoall", "alltoall"},   {"sendrecv", "sendrecv"},
};
constexpr Kind kOthers[] = {
    {"crossdevicereduce", "allreduce"},
    {"quickreduce", "allreduce"},
    {"broadcast", "broadcast"},
    {"dispatch", "dispatch"},
    {"combine", "combine"},
    {"barrier", "barrier"},
    {"scatter", "scatter"},
    {"gather", "gather"},
    {"reduce", "reduce"},
    {"recv", "recv"},
    {"send", "send"},
};

// The same word used within one GPU: a reduction over the threads of a warp or a block.
bool within_gpu(std::string_view text, std::size_t at) noexcept {
  for (const std::string_view scope : {"warp", "block", "wave", "thread", "subgroup", "quad"}) {
    if (at >= scope.size() && text.substr(at - scope.size(), scope.size()) == scope) return true;
  }
  return false;
}

bool names_collective(const Words& words) noexcept {
  if (words.find("hcom") != std::string::npos) return true;  // Ascend: hcom_broadcast_
  for (const Kind& collective : kCollectives) {
    std::size_t at = words.find(collective.part);
    while (at != std::string::npos) {
      if (!within_gpu(words.text(), at)) return true;
      at = words.find(collective.part, at + 1);
    }
  }
  return false;
}

}  // namespace

Activity classify_kernel(std::string_view name) {
  const Words words(name);
  const std::string& text = words.text();
  for (const std::string_view library : kLibraries) {
    if (contains(text, library)) return Activity::communication;
  }
  if (names_collective(words)) return Activity::communication;
  if (text.starts_with("memcpy") || text.starts_with("memset")) return classify_copy(name);
  // Meta's accelerator lists its copies among its kernels.
  if (name.size() > 3 && text.starts_with("dma") && name[3] == '_') return Activity::memory;
  return Activity::compute;
}

Activity classify_copy(std::string_view name) {
  const std::string text = folded(name);
  return contains(text, "ptop") || contains(text, "peer") ? Activity::communication
                                                          : Activity::memory;
}

std::string_view collective_kind(std::string_view name) {
  // The arguments of a kernel name types, not operations; those of a template may be a whole name.
  std::string text = folded(name);
  const std::size_t paren = text.find('(', text.starts_with("void (") ? 6 : 0);
  if (!contains(text, "anonymous") && paren != std::string::npos) text.resize(paren);
  for (const Kind& collective : kCollectives) {
    if (contains(text, collective.part)) return collective.kind;
  }
  for (const Kind& other : kOthers) {
    if (contains(text, other.part)) return other.kind;
  }
  return "unknown";
}

Activity KernelClassifier::classify(std::string_view name) {
  if (name.size() < 8 || name.size() > kLongest) return classify_kernel(name);
  // Names share their ends ("std::array<char*, 2ul>)") and differ in length and in the middle.
  std::uint64_t hash = name.size();
  for (const std::size_t at : {std::size_t{0}, name.size() / 4, name.size() / 2,
                               name.size() - name.size() / 4 - 8, name.size() - 8}) {
    std::uint64_t word = 0;
    std::memcpy(&word, name.data() + (at + 8 > name.size() ? name.size() - 8 : at), sizeof word);
    hash = (hash ^ word) * 0x9e3779b97f4a7c15U;
    hash ^= hash >> 29;
  }
  Known& slot = known_[hash % kSlots];
  if (slot.name != name) {
    slot.activity = classify_kernel(name);
    slot.name.assign(name);
  }
  return slot.activity;
}

}  // namespace mfu::traces
