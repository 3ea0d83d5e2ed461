// mfu_second_score --from A --to B [--odd | --even] [--misses] [--threads N]
//
// Makes the jobs of these seeds, has the library diagnose each, and holds the answers against the
// labels. Nothing here depends on how fast the machine is.
#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <iostream>
#include <map>
#include <string>
#include <thread>
#include <vector>

#include "answer.hpp"

namespace {

struct Scored {
  second::Job job;
  second::Answer answer;
  bool right = false;
};

struct Options {
  std::uint64_t from = 0, to = 999;
  bool odd = true, even = true, misses = false;
  unsigned threads = 0;
};

std::vector<Scored> score(const Options& options) {
  std::vector<std::uint64_t> seeds;
  for (std::uint64_t seed = options.from; seed <= options.to; ++seed) {
    if (seed % 2 == 1 ? options.odd : options.even) seeds.push_back(seed);
  }
  std::vector<Scored> all(seeds.size());
  std::atomic<std::size_t> next{0};
  const auto work = [&](unsigned thread) {
    const auto scratch =
        std::filesystem::temp_directory_path() /
        ("mfu-second-" + std::to_string(::getpid()) + "-" + std::to_string(thread) + ".json");
    for (std::size_t i = next++; i < all.size(); i = next++) {
      Scored& scored = all[i];
      scored.job = second::make(seeds[i]);
      scored.answer = second::answer_to(scored.job, scratch.string());
      scored.right = second::right(scored.job, scored.answer);
      scored.job.document = {};
    }
    std::error_code ignored;
    std::filesystem::remove(scratch, ignored);
  };
  const unsigned count =
      options.threads > 0 ? options.threads : std::max(1U, std::thread::hardware_concurrency());
  std::vector<std::thread> threads;
  for (unsigned thread = 0; thread < count; ++thread) threads.emplace_back(work, thread);
  for (std::thread& thread : threads) thread.join();
  return all;
}

std::string joined(const std::vector<std::string>& words) {
  std::string text;
  for (const std::string& word : words) text += (text.empty() ? "" : "+") + word;
  return text.empty() ? "any" : text;
}

std::string label_text(const second::Label& label) {
  std::string text = label.decidable ? "" : "? ";
  text += joined(label.readings);
  if (!label.families.empty()) text += "(" + joined(label.families) + ")";
  text += " @" + label.locality;
  if (!label.nodes.empty()) {
    text += " nodes";
    for (std::size_t i = 0; i < label.nodes.size() && i < 8; ++i) text += ' ' + label.nodes[i];
    if (label.nodes.size() > 8) text += " (" + std::to_string(label.nodes.size()) + ")";
  } else if (!label.ranks.empty()) {
    text += " ranks";
    for (std::size_t i = 0; i < label.ranks.size() && i < 8; ++i) {
      text += ' ' + std::to_string(label.ranks[i]);
    }
    if (label.ranks.size() > 8) text += " (" + std::to_string(label.ranks.size()) + ")";
  }
  return text;
}

std::string answer_text(const second::Answer& answer) {
  if (!answer.error.empty()) return "error: " + answer.error;
  std::string text = answer.family;
  if (answer.family == "mixed") text += "(" + joined(answer.families) + ")";
  if (answer.family == "inconclusive") text += "(" + joined(answer.readings) + ")";
  text += " @" + answer.locality;
  if (!answer.place_text.empty()) text += " " + answer.place_text;
  if (answer.confidence) {
    std::array<char, 16> buffer{};
    std::snprintf(buffer.data(), buffer.size(), " %.2f", *answer.confidence);
    text += buffer.data();
  }
  return text;
}

double percent(std::size_t part, std::size_t whole) {
  return whole == 0 ? 0.0 : 100.0 * static_cast<double>(part) / static_cast<double>(whole);
}

void print_kinds(const std::vector<Scored>& all) {
  struct Tally {
    std::size_t right = 0, total = 0;
  };
  std::map<std::string, Tally> kinds;
  for (const Scored& scored : all) {
    Tally& tally = kinds[scored.job.kind];
    ++tally.total;
    if (scored.right) ++tally.right;
  }
  for (const std::string& name : second::kind_names()) {
    const auto found = kinds.find(name);
    if (found == kinds.end()) continue;
    std::printf("  %-26s %4zu / %-4zu\n", name.c_str(), found->second.right, found->second.total);
  }
}

// Of the verdicts with a confidence: how far what they say is from how often they are right.
void print_calibration(const std::vector<Scored>& all) {
  struct Bin {
    std::size_t right = 0, total = 0;
    double said = 0;
  };
  std::array<Bin, 10> bins{};
  std::size_t sure = 0, sure_wrong = 0, stated = 0;
  for (const Scored& scored : all) {
    const second::Answer& answer = scored.answer;
    if (!answer.confidence || answer.family == "inconclusive") continue;
    ++stated;
    Bin& bin = bins[std::min<std::size_t>(9, static_cast<std::size_t>(*answer.confidence * 10))];
    ++bin.total;
    bin.said += *answer.confidence;
    if (scored.right) ++bin.right;
    if (*answer.confidence >= 0.95) {
      ++sure;
      if (!scored.right) ++sure_wrong;
    }
  }
  double error = 0;
  for (const Bin& bin : bins) {
    error += std::abs(bin.said - static_cast<double>(bin.right)) /
             static_cast<double>(std::max<std::size_t>(1, stated));
  }
  std::printf("confidence >= 0.95: %zu wrong of %zu (%.2f %%)\n", sure_wrong, sure,
              percent(sure_wrong, sure));
  std::printf("calibration error %.4f over %zu verdicts with a confidence\n", error, stated);
  for (std::size_t i = 0; i < bins.size(); ++i) {
    if (bins[i].total == 0) continue;
    const double total = static_cast<double>(bins[i].total);
    std::printf("  %.1f..%.1f  said %.3f  right %.3f  of %zu\n", static_cast<double>(i) / 10,
                static_cast<double>(i + 1) / 10, bins[i].said / total,
                static_cast<double>(bins[i].right) / total, bins[i].total);
  }
}

// Whether the stated interval of the step that is left holds the twin's step. Only where verdict
// and label name the same: another cause is another step. `single-gpu-efficiency` is priced at a
// target and `mixed` has no agreed price: they are shown, and not part of the total.
void print_intervals(const std::vector<Scored>& all) {
  struct Tally {
    std::size_t held = 0, total = 0, below = 0;
    std::vector<double> outside;  // how far the twin is from the interval, as a share of the step
  };
  std::map<std::string, Tally> families;
  Tally sum;
  for (const Scored& scored : all) {
    const second::Label& label = scored.job.label;
    if (!scored.right || label.readings.empty()) continue;
    const double twin_s = scored.job.twin_step_s;
    std::string family = label.readings.front();
    const second::Recoverable* stated = nullptr;
    if (label.decidable) {
      if (family == "healthy" || !scored.answer.recoverable) continue;
      stated = &*scored.answer.recoverable;
    } else {
      // The twin of an undecidable job is the reading `straggler`: the place at its peers' speed.
      for (const second::Recoverable& reading : scored.answer.of_readings) {
        if (reading.family == "straggler" && !label.ranks.empty()) stated = &reading;
      }
      if (stated == nullptr) continue;
      family = "undecidable";
    }
    const bool held = stated->low_s <= twin_s && twin_s <= stated->high_s;
    for (Tally* tally : {&families[family], &sum}) {
      if (tally == &sum && (family == "single-gpu-efficiency" || family == "mixed")) continue;
      ++tally->total;
      if (held) ++tally->held;
      if (twin_s < stated->low_s) ++tally->below;
      if (!held) {
        const double away_s = std::max(stated->low_s - twin_s, twin_s - stated->high_s);
        tally->outside.push_back(away_s / scored.job.step_s);
      }
    }
  }
  std::printf("stated interval holds the twin's step: %zu of %zu (%.1f %%)\n", sum.held, sum.total,
              percent(sum.held, sum.total));
  for (auto& [family, tally] : families) {
    std::sort(tally.outside.begin(), tally.outside.end());
    const double away = tally.outside.empty() ? 0.0 : tally.outside[tally.outside.size() / 2];
    std::printf(
        "  %-24s %4zu / %-4zu  twin below %zu, above %zu, by %.2f %% of the step (median)\n",
        family.c_str(), tally.held, tally.total, tally.below,
        tally.total - tally.held - tally.below, 100.0 * away);
  }
}

void print_summary(const std::vector<Scored>& all) {
  std::size_t right = 0, refused = 0, decidable = 0, decidable_right = 0;
  std::size_t healthy = 0, alarms = 0, missed = 0, harmed = 0;
  std::size_t judged = 0, courses = 0;
  for (const Scored& scored : all) {
    const second::Label& label = scored.job.label;
    if (!scored.answer.error.empty()) ++refused;
    if (scored.right) ++right;
    if (label.decidable) {
      ++decidable;
      if (scored.right) ++decidable_right;
    }
    const bool well = label.decidable && label.readings.front() == "healthy";
    if (well) {
      ++healthy;
      if (scored.answer.family != "healthy") ++alarms;
    } else {
      ++harmed;
      if (scored.answer.family == "healthy") ++missed;
    }
    if (scored.right && !label.persistence.empty()) {
      ++judged;
      for (const std::string& course : label.persistence) {
        if (course == scored.answer.persistence) {
          ++courses;
          break;
        }
      }
    }
  }
  const std::size_t undecidable = all.size() - decidable;
  std::printf("right %zu of %zu (%.1f %%)\n", right, all.size(), percent(right, all.size()));
  std::printf("  decidable %zu of %zu (%.1f %%), undecidable %zu of %zu (%.1f %%)\n",
              decidable_right, decidable, percent(decidable_right, decidable),
              right - decidable_right, undecidable, percent(right - decidable_right, undecidable));
  std::printf("refused %zu\n", refused);
  std::printf("false alarms %zu of %zu healthy; called healthy %zu of %zu others\n", alarms,
              healthy, missed, harmed);
  std::printf("persistence right %zu of %zu where family and place are\n", courses, judged);
}

}  // namespace

int main(int argc, char** argv) {
  Options options;
  for (int i = 1; i < argc; ++i) {
    const std::string option = argv[i];
    const auto value = [&] { return std::strtoull(i + 1 < argc ? argv[++i] : "0", nullptr, 10); };
    if (option == "--from") {
      options.from = value();
    } else if (option == "--to") {
      options.to = value();
    } else if (option == "--odd") {
      options.even = false;
    } else if (option == "--even") {
      options.odd = false;
    } else if (option == "--misses") {
      options.misses = true;
    } else if (option == "--threads") {
      options.threads = static_cast<unsigned>(value());
    } else {
      std::cerr << "usage: mfu_second_score --from A --to B [--odd | --even] [--misses] "
                   "[--threads N]\n";
      return 2;
    }
  }
  const std::vector<Scored> all = score(options);
  print_summary(all);
  print_kinds(all);
  print_calibration(all);
  print_intervals(all);
  if (options.misses) {
    for (const Scored& scored : all) {
      if (scored.right) continue;
      const second::Job& job = scored.job;
      std::printf("%llu  %s  %s R%d S%d  %s | %s | %s | save %.3f\n",
                  static_cast<unsigned long long>(job.seed), job.kind.c_str(), job.shape.c_str(),
                  job.ranks, job.steps, job.recorder.c_str(), label_text(job.label).c_str(),
                  answer_text(scored.answer).c_str(), 1.0 - job.twin_step_s / job.step_s);
    }
  }
}
