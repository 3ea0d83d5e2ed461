// The scores of many jobs, summed up as the diagnosis is promised to be: how often the family, the
// culprit and the step after the fix are right, how often a healthy job is accused, and whether it
// abstains where the data cannot tell.
#pragma once

#include <map>
#include <string>
#include <utility>

#include "faults/scoring/score.hpp"

namespace mfu::faults {

struct Share {
  int right = 0;
  int of = 0;
  void add(bool is_right) {
    ++of;
    right += is_right ? 1 : 0;
  }
  void add(const Share& other) {
    of += other.of;
    right += other.right;
  }
  // Of nothing: 1.
  [[nodiscard]] double value() const {
    return of == 0 ? 1.0 : static_cast<double>(right) / static_cast<double>(of);
  }
};

struct Tally {
  Share family;      // of the faults that count (see counts())
  Share culprit;     // of those with one culprit: exactly that, and no other
  Share step;        // of those in the step families: within 10 % of the fault-free twin
  Share calm;        // of the healthy jobs: not accused (healthy or abstained)
  Share healthy;     // of the healthy jobs: called healthy
  Share small;       // of the faults that cost too little: called healthy
  Share abstention;  // of the jobs where only an abstention is right: abstained, and said why
  Share hedge;       // of the other undecidable jobs: an accepted family, and said what is lacking
  std::map<std::pair<Family, Family>, int> confusion;  // (true, told)

  // `fault`: the job has one, if perhaps too small a one to count.
  void add(bool fault, const Truth& truth, const Verdict& verdict, const Score& score);
  void add(const Tally& other);
};

// Each figure in a line, and the confusion matrix: a row for what is true, a column for what was
// told.
[[nodiscard]] std::string tally_table(const Tally& tally);

}  // namespace mfu::faults
