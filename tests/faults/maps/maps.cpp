#include "faults/maps/maps.hpp"

#include <array>
#include <cstdio>
#include <functional>

#include "faults/maps/swept.hpp"
#include "statistics/robust.hpp"

namespace mfu::faults {

namespace {

constexpr std::array kFactors{1.05, 1.1, 1.2, 1.5, 2.0, 2.5};

std::string text(const char* format, double value) {
  char buffer[32];
  std::snprintf(buffer, sizeof buffer, format, value);
  return buffer;
}

MapPoint point(std::string row, std::string column, const Swept& swept) {
  const SweptJob job = sweep(swept);
  DiagnoseOptions options;
  options.replicates = 200;
  Notes notes;
  return {std::move(row), std::move(column), job.saving, diagnose(job.run, options, notes).verdict};
}

// The k-th slow rank, so that they are scattered over the nodes: any 11 k + 3 is a permutation of
// 8, 16 and 64 ranks.
bool is_slow(std::size_t rank, std::size_t slow, std::size_t ranks) {
  for (std::size_t k = 0; k < slow; ++k) {
    if ((11 * k + 3) % ranks == rank) return true;
  }
  return false;
}

std::vector<MapPoint> slow_ranks() {
  std::vector<MapPoint> points;
  for (const std::size_t ranks : {8U, 16U, 64U}) {
    for (const double factor : kFactors) {
      for (const double spread : {0.0, 0.25, 0.5}) {
        for (std::size_t slow = 1; slow < ranks; slow += ranks == 64 && slow > 12 ? 3 : 1) {
          std::vector<double> of(ranks, 1.0);
          Random random(ranks * 1000 + slow);
          for (std::size_t r = 0; r < ranks; ++r) {
            if (!is_slow(r, slow, ranks)) continue;
            of[r] = 1.0 + (factor - 1.0) * (1.0 + spread * (2.0 * random.uniform() - 1.0));
          }
          Swept swept;
          swept.ranks = ranks;
          swept.seed = ranks + slow;
          swept.factor = [of](std::size_t r, std::size_t) { return of[r]; };
          points.push_back(point(std::to_string(ranks) + " ranks, " + text("x %.2f", factor) +
                                     text(", spread %.2f", spread),
                                 std::to_string(slow), swept));
        }
      }
    }
  }
  return points;
}

std::vector<MapPoint> slow_nodes() {
  std::vector<MapPoint> points;
  for (const std::size_t ranks : {64U, 128U, 256U, 512U, 1024U, 2048U}) {
    for (const double lot : {0.004, 0.01}) {
      for (const double factor : kFactors) {
        Swept swept;
        swept.ranks = ranks;
        swept.lot = lot;
        swept.steps = 16;
        swept.seed = ranks;
        swept.factor = [ranks, factor](std::size_t r, std::size_t) {
          return r < ranks * 3 / 8 ? factor : 1.0;
        };
        points.push_back(
            point(std::to_string(ranks) + " ranks, 3 of 8 nodes slow" + text(", lot %.3f", lot),
                  text("%.2f", factor), swept));
      }
    }
  }
  return points;
}

std::vector<MapPoint> own_stalls() {
  constexpr std::array kNames{"comm", "stall", "apart"};
  constexpr std::array kWaits{WaitsIn::comm, WaitsIn::stall, WaitsIn::separate};
  std::vector<MapPoint> points;
  for (std::size_t waits = 0; waits < kWaits.size(); ++waits) {
    for (std::size_t declared = 0; declared < kWaits.size(); ++declared) {
      // A column of its own is declared, or there is none.
      if ((kWaits[waits] == WaitsIn::separate) != (kWaits[declared] == WaitsIn::separate)) continue;
      for (const double size : {0.05, 0.1, 0.2, 0.4, 0.8}) {
        for (const double share : {0.1, 0.2, 0.35, 0.5, 0.65, 0.8, 1.0}) {
          Swept swept;
          swept.ranks = 32;
          swept.recorder = {kWaits[waits], kWaits[declared]};
          swept.stall_s = [size, share](std::size_t r, std::size_t s) {
            const bool on = static_cast<double>((7 * s + 3) % 24) < 24.0 * share;
            return r / 8 == 1 && on ? size : 0.0;
          };
          points.push_back(point(std::string("waits in ") + kNames[waits] + ", declared " +
                                     kNames[declared] + text(", %.2f s", size),
                                 text("%.2f", share), swept));
        }
      }
    }
  }
  return points;
}

// Multiplies one column by noise, which leaves every truth as it is.
std::vector<MapPoint> noisy_columns() {
  constexpr std::array kNames{"compute", "comm", "stall"};
  std::vector<MapPoint> points;
  for (std::size_t column = 0; column < kNames.size(); ++column) {
    for (const double factor : {1.0, 1.3}) {
      for (const double noise : {0.005, 0.01, 0.02, 0.03, 0.05}) {
        Swept swept;
        swept.ranks = 32;
        swept.factor = [factor](std::size_t r, std::size_t) { return r == 5 ? factor : 1.0; };
        SweptJob job = sweep(swept);
        Column& scaled = column == 0 ? job.run.compute : column == 1 ? job.run.comm : job.run.stall;
        Random random(17);
        for (std::size_t s = 0; s < scaled.steps(); ++s) {
          for (double& value : scaled.row(s)) value *= std::max(0.0, 1.0 + noise * random.normal());
        }
        DiagnoseOptions options;
        options.replicates = 200;
        Notes notes;
        points.push_back({std::string(kNames[column]) + text(", rank 5 x %.2f", factor),
                          text("%.3f", noise), job.saving,
                          diagnose(job.run, options, notes).verdict});
      }
    }
  }
  return points;
}

constexpr std::array kMaps{
    FaultMap{"slow-ranks", "k of n ranks slow: columns k", slow_ranks},
    FaultMap{"slow-nodes", "3 of 8 nodes slow: columns times the compute", slow_nodes},
    FaultMap{"own-stalls", "one node stalls: columns share of the steps", own_stalls},
    FaultMap{"noisy-columns", "one column with noise: columns its size", noisy_columns},
};

constexpr double kConfident = 0.9;

bool confident(const Verdict& verdict) {
  return verdict.family != Family::inconclusive && verdict.confidence >= kConfident;
}

char letter(const Verdict& verdict) {
  switch (verdict.family) {
    case Family::healthy:
      return '.';
    case Family::straggler:
      return confident(verdict) ? 'S' : 's';
    case Family::imbalance:
      return confident(verdict) ? 'I' : 'i';
    case Family::stall:
      return confident(verdict) ? 'T' : 't';
    case Family::communication:
      return confident(verdict) ? 'C' : 'c';
    case Family::single_gpu_efficiency:
      return confident(verdict) ? 'G' : 'g';
    case Family::mixed:
      return confident(verdict) ? 'M' : 'm';
    case Family::inconclusive:
      return '?';
  }
  return ' ';
}

}  // namespace

std::span<const FaultMap> fault_maps() { return kMaps; }

std::string drawn(std::span<const MapPoint> points) {
  std::string out;
  const std::string* row = nullptr;
  for (const MapPoint& each : points) {
    if (row == nullptr || *row != each.row) {
      if (row != nullptr) out += "\n";
      out += each.row;
      out.append(each.row.size() < 44 ? 44 - each.row.size() : 1, ' ');
      row = &each.row;
    }
    out += letter(each.verdict);
  }
  return out + "\n";
}

std::vector<std::string> cliffs(std::span<const MapPoint> points) {
  constexpr double kMissed = 1.5;  // times what is material
  std::vector<std::string> found;
  const DiagnoseOptions usual;
  for (std::size_t i = 0; i < points.size(); ++i) {
    const MapPoint& here = points[i];
    if (here.verdict.family == Family::healthy && here.saving >= kMissed * usual.materiality) {
      found.push_back(here.row + " at " + here.column + ": healthy, where " +
                      text("%.1f", 100.0 * here.saving) + " % can be saved");
    }
    if (i == 0 || points[i - 1].row != here.row) continue;
    const Verdict& before = points[i - 1].verdict;
    // From nothing to a fault is what a growing fault does.
    if (before.family == Family::healthy || here.verdict.family == Family::healthy) continue;
    if (confident(before) && confident(here.verdict) && before.family != here.verdict.family) {
      found.push_back(here.row + " from " + points[i - 1].column + " to " + here.column + ": " +
                      std::string(to_string(before.family)) + " to " +
                      std::string(to_string(here.verdict.family)));
    }
  }
  return found;
}

}  // namespace mfu::faults
