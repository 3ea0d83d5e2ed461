#include "report/diagnose/run_flags.hpp"

#include <algorithm>
#include <array>
#include <vector>

namespace mfu {
namespace {

enum class Trait {
  async_checkpoint,
  manual_gc,
  compiled,
  fused_attention,
  gradients_overlap,
  parameters_overlap,
  sharded,
  fp8,
  tokenised,
  local_data,
  loader_workers,
  prefetch,
  bucket,
};

enum class Reads {
  yes,     // true, yes, on, 1
  chosen,  // anything but a no: a mode, a backend, a recipe
  count,   // a number that is not 0
  words,   // one of the row's words begins a word of the value
  off,     // a no: what the key names was turned off
};

struct Alias {
  std::string_view name;  // of the key, or of its end behind a dot: "compile.enable"
  Trait trait;
  Reads reads;
  std::string_view words{};  // with blanks between them
};

constexpr std::string_view kFused =
    "flash flashattention fused sdpa cudnn xformers flex transformer_engine";
constexpr std::string_view kTokenised =
    "tokenized tokenised pretokenized pretokenised mmap indexed";
constexpr std::string_view kLocal = "local nvme ramdisk tmpfs";
constexpr std::string_view kFp8 = "fp8 float8 e4m3 transformer_engine mxfp8";

// Spellings as of the frameworks' own options and configuration files.
constexpr std::array kAliases{
    Alias{"async_save", Trait::async_checkpoint, Reads::yes},                  // Megatron, NeMo
    Alias{"ckpt_async_save", Trait::async_checkpoint, Reads::yes},             // NeMo 2
    Alias{"dist_ckpt_async_save", Trait::async_checkpoint, Reads::yes},        //
    Alias{"use_persistent_ckpt_worker", Trait::async_checkpoint, Reads::yes},  // Megatron
    Alias{"async_checkpointing", Trait::async_checkpoint, Reads::yes},         // MaxText
    Alias{"async_checkpoint", Trait::async_checkpoint, Reads::yes},
    Alias{"enable_async_checkpoint", Trait::async_checkpoint, Reads::yes},
    Alias{"checkpoint_async", Trait::async_checkpoint, Reads::yes},
    Alias{"async_ckpt", Trait::async_checkpoint, Reads::yes},
    Alias{"async_mode", Trait::async_checkpoint, Reads::words, "async"},  // torchtitan
    Alias{"checkpoint", Trait::async_checkpoint, Reads::words, "async"},
    Alias{"checkpoints", Trait::async_checkpoint, Reads::words, "async"},
    Alias{"checkpointing", Trait::async_checkpoint, Reads::words, "async"},
    Alias{"checkpoint_mode", Trait::async_checkpoint, Reads::words, "async"},
    Alias{"checkpoint_format", Trait::async_checkpoint, Reads::words, "async"},
    Alias{"checkpoint_type", Trait::async_checkpoint, Reads::words, "async"},
    Alias{"ckpt", Trait::async_checkpoint, Reads::words, "async"},
    Alias{"ckpt_mode", Trait::async_checkpoint, Reads::words, "async"},
    Alias{"ckpt_format", Trait::async_checkpoint, Reads::words, "async"},
    Alias{"dist_ckpt_format", Trait::async_checkpoint, Reads::words, "async"},
    Alias{"save", Trait::async_checkpoint, Reads::words, "async"},
    Alias{"save_mode", Trait::async_checkpoint, Reads::words, "async"},

    Alias{"manual_gc", Trait::manual_gc, Reads::yes},             // Megatron
    Alias{"manual_gc_interval", Trait::manual_gc, Reads::count},  //
    Alias{"gc_interval", Trait::manual_gc, Reads::count},         // NeMo
    Alias{"gc_freq", Trait::manual_gc, Reads::count},             // torchtitan
    Alias{"gc", Trait::manual_gc, Reads::words, "manual"},
    Alias{"gc", Trait::manual_gc, Reads::off},
    Alias{"garbage_collection", Trait::manual_gc, Reads::words, "manual"},
    Alias{"garbage_collection", Trait::manual_gc, Reads::off},

    Alias{"compile", Trait::compiled, Reads::chosen},                // torchtitan, nanoGPT
    Alias{"compile.enable", Trait::compiled, Reads::yes},            // torchtitan
    Alias{"torch_compile", Trait::compiled, Reads::chosen},          // Hugging Face
    Alias{"torch_compile_mode", Trait::compiled, Reads::chosen},     //
    Alias{"torch_compile_backend", Trait::compiled, Reads::chosen},  //
    Alias{"dynamo_backend", Trait::compiled, Reads::chosen},         // Accelerate
    Alias{"use_torch_compile", Trait::compiled, Reads::yes},
    Alias{"use_compile", Trait::compiled, Reads::yes},
    Alias{"compile_model", Trait::compiled, Reads::yes},
    Alias{"enable_compile", Trait::compiled, Reads::yes},

    Alias{"use_flash_attn", Trait::fused_attention, Reads::yes},                 // Megatron
    Alias{"use_flash_attn_v3", Trait::fused_attention, Reads::yes},              //
    Alias{"use_flash_attention", Trait::fused_attention, Reads::yes},            // NeMo
    Alias{"use_flash_attention_2", Trait::fused_attention, Reads::yes},          // Hugging Face
    Alias{"use_flash_attention_3", Trait::fused_attention, Reads::yes},          //
    Alias{"use_fused_attention", Trait::fused_attention, Reads::yes},            //
    Alias{"use_sdpa", Trait::fused_attention, Reads::yes},                       //
    Alias{"flash_attention", Trait::fused_attention, Reads::chosen},             // NeMo
    Alias{"flash_attn", Trait::fused_attention, Reads::chosen},                  //
    Alias{"attn_implementation", Trait::fused_attention, Reads::words, kFused},  // Hugging Face
    Alias{"attn_impl", Trait::fused_attention, Reads::words, kFused},            // LLM Foundry
    Alias{"attn_type", Trait::fused_attention, Reads::words, kFused},            // torchtitan
    Alias{"attention_backend", Trait::fused_attention, Reads::words, kFused},    // Megatron
    Alias{"transformer_impl", Trait::fused_attention, Reads::words, kFused},     //
    Alias{"attn_backend", Trait::fused_attention, Reads::words, kFused},
    Alias{"attention_impl", Trait::fused_attention, Reads::words, kFused},
    Alias{"attention_implementation", Trait::fused_attention, Reads::words, kFused},
    Alias{"attention", Trait::fused_attention, Reads::words, kFused},  // MaxText
    Alias{"attn", Trait::fused_attention, Reads::words, kFused},

    Alias{"overlap_grad_reduce", Trait::gradients_overlap, Reads::yes},    // Megatron, NeMo 2
    Alias{"overlap_grad_sync", Trait::gradients_overlap, Reads::yes},      // NeMo
    Alias{"overlap_comm", Trait::gradients_overlap, Reads::yes},           // DeepSpeed
    Alias{"overlap_param_gather", Trait::parameters_overlap, Reads::yes},  // Megatron, NeMo 2
    Alias{"overlap_param_gather_with_optimizer_step", Trait::parameters_overlap, Reads::yes},
    Alias{"overlap_param_sync", Trait::parameters_overlap, Reads::yes},         // NeMo
    Alias{"fsdp_forward_prefetch", Trait::parameters_overlap, Reads::yes},      // Hugging Face
    Alias{"fsdp_backward_prefetch", Trait::parameters_overlap, Reads::chosen},  //
    Alias{"forward_prefetch", Trait::parameters_overlap, Reads::yes},           // PyTorch FSDP
    Alias{"backward_prefetch", Trait::parameters_overlap, Reads::chosen},       //

    Alias{"use_distributed_optimizer", Trait::sharded, Reads::yes},    // Megatron, NeMo 2
    Alias{"distributed_optimizer", Trait::sharded, Reads::yes},        //
    Alias{"use_torch_fsdp2", Trait::sharded, Reads::yes},              // Megatron
    Alias{"fsdp", Trait::sharded, Reads::chosen},                      // Hugging Face
    Alias{"zero_stage", Trait::sharded, Reads::count},                 // DeepSpeed
    Alias{"zero_optimization.stage", Trait::sharded, Reads::count},    //
    Alias{"optim.name", Trait::sharded, Reads::words, "distributed"},  // NeMo
    Alias{"optimizer", Trait::sharded, Reads::words, "distributed"},   //

    Alias{"fp8", Trait::fp8, Reads::chosen},                   // Megatron, NeMo
    Alias{"fp8_format", Trait::fp8, Reads::chosen},            // Megatron
    Alias{"fp8_recipe", Trait::fp8, Reads::chosen},            //
    Alias{"fp8_hybrid", Trait::fp8, Reads::yes},               // NeMo
    Alias{"fp8_e4m3", Trait::fp8, Reads::yes},                 //
    Alias{"float8", Trait::fp8, Reads::chosen},                // torchtitan
    Alias{"enable_float8_linear", Trait::fp8, Reads::yes},     //
    Alias{"enable_fp8_linear", Trait::fp8, Reads::yes},        //
    Alias{"converters", Trait::fp8, Reads::words, kFp8},       //
    Alias{"mixed_precision", Trait::fp8, Reads::words, kFp8},  // Accelerate
    Alias{"mixed_precision_recipe", Trait::fp8, Reads::words, kFp8},
    Alias{"precision", Trait::fp8, Reads::words, kFp8},  // Lightning, NeMo 2
    Alias{"use_fp8", Trait::fp8, Reads::yes},

    Alias{"data", Trait::tokenised, Reads::words, kTokenised},
    Alias{"input", Trait::tokenised, Reads::words, kTokenised},
    Alias{"dataset", Trait::tokenised, Reads::words, kTokenised},
    Alias{"data_format", Trait::tokenised, Reads::words, kTokenised},
    Alias{"dataset_type", Trait::tokenised, Reads::words, kTokenised},
    Alias{"data_impl", Trait::tokenised, Reads::words, kTokenised},  // Megatron, NeMo
    Alias{"data", Trait::local_data, Reads::words, kLocal},
    Alias{"input", Trait::local_data, Reads::words, kLocal},
    Alias{"dataset", Trait::local_data, Reads::words, kLocal},
    Alias{"data_location", Trait::local_data, Reads::words, kLocal},

    Alias{"num_workers", Trait::loader_workers, Reads::count},             // Megatron, NeMo
    Alias{"dataloader_num_workers", Trait::loader_workers, Reads::count},  // Hugging Face
    Alias{"loader_workers", Trait::loader_workers, Reads::count},
    Alias{"dataloader_workers", Trait::loader_workers, Reads::count},
    Alias{"data_workers", Trait::loader_workers, Reads::count},
    Alias{"prefetch_factor", Trait::prefetch, Reads::count},  // PyTorch
    Alias{"dataloader_prefetch_factor", Trait::prefetch, Reads::count},
    Alias{"dataloader.prefetch", Trait::prefetch, Reads::count},

    Alias{"ddp_bucket_size", Trait::bucket, Reads::count},     // Megatron
    Alias{"ddp_bucket_cap_mb", Trait::bucket, Reads::count},   // Hugging Face
    Alias{"bucket_cap_mb", Trait::bucket, Reads::count},       // PyTorch, NeMo
    Alias{"reduce_bucket_size", Trait::bucket, Reads::count},  // DeepSpeed
    Alias{"bucket_size", Trait::bucket, Reads::count},
};

char lower_of(char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c; }

bool is_word(char c) { return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9'); }

// One spelling of what is written "--Async-Save", "async_save" or "'async_save'".
std::string folded(std::string_view text) {
  std::string result;
  for (const char raw : text) {
    const char c = lower_of(raw);
    if (c == '"' || c == '\'') continue;
    result += c == '-' || c == ' ' ? '_' : c == '/' ? '.' : c;
  }
  result.erase(0, std::min(result.find_first_not_of('_'), result.size()));
  return result;
}

std::string lower(std::string_view text) {
  std::string result;
  for (const char c : text) result += lower_of(c);
  return result;
}

std::vector<std::string_view> words_of(std::string_view text) {
  std::vector<std::string_view> words;
  for (std::size_t i = 0; i < text.size();) {
    std::size_t end = i;
    while (end < text.size() && is_word(text[end])) ++end;
    if (end > i) words.push_back(text.substr(i, end - i));
    i = std::max(end, i + 1);
  }
  return words;
}

bool says_no(std::string_view value) {
  constexpr std::array<std::string_view, 13> kNo{"no",  "not",      "non",     "without", "none",
                                                 "off", "disabled", "disable", "false",   "null",
                                                 "0",   "never",    "n"};
  const std::vector<std::string_view> words = words_of(value);
  return words.empty() || std::any_of(words.begin(), words.end(), [&](std::string_view word) {
           return std::find(kNo.begin(), kNo.end(), word) != kNo.end();
         });
}

bool says_yes(std::string_view value) {
  constexpr std::array<std::string_view, 7> kYes{"true",    "yes",    "on", "1",
                                                 "enabled", "enable", "y"};
  const std::vector<std::string_view> words = words_of(value);
  return words.size() == 1 && std::find(kYes.begin(), kYes.end(), words.front()) != kYes.end();
}

bool is_count(std::string_view value) {
  constexpr std::size_t kLongest = 12;
  return !value.empty() && value.size() <= kLongest &&
         value.find_first_not_of("0123456789") == std::string_view::npos &&
         value.find_first_not_of('0') != std::string_view::npos;
}

// "transformer_engine" counts as one word, however it is parted.
bool begins_a_word(std::string_view value, std::string_view wanted) {
  std::string text;
  for (const std::string_view word : words_of(value)) text += "_" + std::string(word);
  for (std::size_t i = 0; i < wanted.size();) {
    const std::size_t end = std::min(wanted.find(' ', i), wanted.size());
    if (text.find("_" + std::string(wanted.substr(i, end - i))) != std::string::npos) return true;
    i = end + 1;
  }
  return false;
}

bool holds(const Alias& alias, std::string_view value) {
  switch (alias.reads) {
    case Reads::yes:
      return says_yes(value);
    case Reads::chosen:
      return !says_no(value);
    case Reads::count:
      return is_count(value);
    case Reads::words:
      return !says_no(value) && begins_a_word(value, alias.words);
    case Reads::off:
      return !words_of(value).empty() && says_no(value);
  }
  return false;
}

bool names(std::string_view key, std::string_view name) {
  if (!key.ends_with(name)) return false;
  return key.size() == name.size() || key[key.size() - name.size() - 1] == '.';
}

void set(Trait trait, std::string_view key, std::string_view value, Conditions& conditions) {
  const std::string number(value);
  switch (trait) {
    case Trait::async_checkpoint:
      conditions.async_checkpoint = true;
      break;
    case Trait::manual_gc:
      conditions.manual_gc = true;
      break;
    case Trait::compiled:
      conditions.compiled = true;
      break;
    case Trait::fused_attention:
      conditions.fused_attention = true;
      break;
    case Trait::gradients_overlap:
      conditions.gradients_overlap = true;
      break;
    case Trait::parameters_overlap:
      conditions.parameters_overlap = true;
      break;
    case Trait::sharded:
      conditions.sharded = true;
      break;
    case Trait::fp8:
      conditions.fp8 = true;
      break;
    case Trait::tokenised:
      conditions.tokenised = true;
      break;
    case Trait::local_data:
      conditions.local_data = true;
      break;
    case Trait::loader_workers:
      conditions.loader_workers = number;
      break;
    case Trait::prefetch:
      conditions.prefetch = number;
      break;
    case Trait::bucket:
      conditions.bucket = std::string(key.substr(key.rfind('.') + 1)) + " " + number;
      break;
  }
}

void read_one(const std::string& key, std::string_view value, Conditions& conditions) {
  const std::string text = lower(value);
  for (const Alias& alias : kAliases) {
    if (!names(key, alias.name)) continue;
    if (holds(alias, text)) {
      set(alias.trait, key, text, conditions);
    } else if (alias.trait == Trait::sharded && !conditions.sharded && says_no(text)) {
      conditions.sharded = false;
    }
  }
}

bool is_name(char c) { return is_word(lower_of(c)) || c == '_' || c == '.' || c == '-'; }

// A value from `at` on: a list as a whole, else up to what ends a word. Empty: an object begins.
std::string_view value_at(std::string_view text, std::size_t at) {
  at = std::min(text.find_first_not_of(" \"'", at), text.size());
  if (at < text.size() && text[at] == '[') {
    return text.substr(at, std::min(text.find(']', at), text.size()) - at);
  }
  return text.substr(at, std::min(text.find_first_of(" ,;\"'{}[]", at), text.size()) - at);
}

// Lines inside a value: name=value, "name": value, --name value.
void read_inside(const std::string& key, std::string_view value, Conditions& conditions) {
  std::vector<std::string> path{key};
  std::string last = key;
  for (std::size_t i = 0; i < value.size();) {
    std::size_t end = i;
    while (end < value.size() && is_name(value[end])) ++end;
    if (end == i) {
      if (value[i] == '{') path.push_back(last);
      if (value[i] == '}' && path.size() > 1) path.pop_back();
      ++i;
      continue;
    }
    const std::string_view name = value.substr(i, end - i);
    const std::string inner = path.back() + "." + folded(name);
    const std::size_t after = std::min(value.find_first_not_of('"', end), value.size());
    if (after < value.size() && (value[after] == '=' || value[after] == ':')) {
      last = inner;
      read_one(inner, value_at(value, after + 1), conditions);
    } else if (name.starts_with("--")) {
      const std::string_view next = value_at(value, end);
      read_one(inner, next.empty() || next.starts_with("--") ? "true" : next, conditions);
    }
    i = end;
  }
}

}  // namespace

void read_job_word(std::string_view key, std::string_view value, Conditions& conditions) {
  const std::string name = folded(key);
  if (!value.starts_with('{')) read_one(name, value, conditions);
  read_inside(name, value, conditions);
}

}  // namespace mfu
