// The learning curve of one case, to ask how far it was after a time, or after some bytes.
#pragma once

#include <optional>
#include <string>
#include <vector>

namespace longhaul {

enum class Budget { kSeconds, kBytes };

class LossCurve {
 public:
  // The rows `mean` of CASE_FOLDER/metrics.csv; empty where the case trained nothing. Throws DamagedFile.
  static LossCurve of_case(const std::string& case_folder);

  bool empty() const { return points_.empty(); }
  // What the last evaluation had used: simulated seconds, or bytes that a replica had sent.
  double end(Budget kind) const;
  double start(Budget kind) const;  // the first
  // The loss, mean over replicas, when so many seconds, or bytes, were used: between two evaluations on the
  // line through them, between those before and after an outer step the former; after the last evaluation
  // that one. None where the first evaluation needed more.
  std::optional<double> within(Budget kind, double budget) const;

 private:
  struct Point {
    double seconds = 0, bytes = 0, loss = 0;
    bool is_before = false, is_after = false;  // an outer step

    double used(Budget kind) const { return kind == Budget::kSeconds ? seconds : bytes; }
  };

  std::vector<Point> points_;
};

}  // namespace longhaul
