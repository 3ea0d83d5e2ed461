// The course of one progress bar through a log: how far it was, and when.
//
// The elapsed column has whole seconds; the rate column is a running mean, either over the newest
// steps (tqdm, weight 0.3) or since the start (Lightning). Where the rate is consistent with the
// clock it tells where within its second each count fell; where it is not, the clock alone counts,
// and neighbours are taken together until a second is little.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "logs/bars/progress_bar.hpp"

namespace mfu {

class BarCourse {
 public:
  // A count as it was first seen.
  struct Point {
    std::int64_t done = 0;
    std::int64_t elapsed_s = 0;
    std::int64_t line = 0;
    std::int64_t order = 0;  // among all bars of the file
    double printed_s = 0.0;  // of a step, as its rate says; 0: not printed
    float rounding_s = 0.0F;
    // Between the point before and this one another bar ran, or an evaluation reported.
    bool interrupted = false;
    float pause_s = 0.0F;  // what that took; 0: not known
    bool evaluation = false;
  };
  // Steps from one point to another.
  struct Stretch {
    std::size_t from = 0;  // of points()
    std::size_t to = 0;
    double seconds = 0.0;  // of one step
  };

  void start(const ProgressBar& bar, std::int64_t line, std::int64_t order);
  // How badly the bar continues this course; nothing: not at all. `printed_last`: no other bar was
  // printed since.
  [[nodiscard]] std::optional<double> misfit(const ProgressBar& bar, bool printed_last) const;
  // False: another look at a count that was there.
  bool add(const ProgressBar& bar, std::int64_t line, std::int64_t order);

  [[nodiscard]] const std::vector<Point>& points() const noexcept { return points_; }
  // What went on between point `to` and the one before it.
  void interrupt(std::size_t to, double seconds, bool evaluation);
  void forget_interruptions();
  [[nodiscard]] std::int64_t seen() const noexcept { return seen_; }
  [[nodiscard]] std::int64_t last_order() const noexcept { return last_order_; }
  [[nodiscard]] std::int64_t first_order() const noexcept { return points_.front().order; }
  [[nodiscard]] double duration_s() const noexcept {
    return static_cast<double>(last_elapsed_s_ - points_.front().elapsed_s);
  }
  // Every second point goes. Returns how many have gone.
  std::size_t thin();

  // Steps whose time is known well enough; empty: the clock does not tell. `mean_of_all`: nothing
  // but the whole course from its start.
  struct Times {
    std::vector<Stretch> stretches;
    bool mean_of_all = false;
    std::size_t resumed_at = 0;  // the point before which steps were skipped over; 0: none
  };
  [[nodiscard]] Times times() const;

 private:
  struct Moment {
    double at_s;
    double error_s;
  };
  [[nodiscard]] std::vector<Moment> moments() const;

  std::vector<Point> points_;
  std::int64_t seen_ = 0;
  std::int64_t last_order_ = 0;
  std::int64_t last_elapsed_s_ = 0;
  bool thinned_ = false;
};

}  // namespace mfu
