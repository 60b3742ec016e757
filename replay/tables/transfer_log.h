// transfers.csv: the single messages of a replay, for the timeline. Only the first ones: a ring among 1024
// has two million in one exchange.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "core/csv.h"
#include "core/plan/operations.h"

namespace longhaul {

constexpr std::int64_t kMostTransferRows = 10000;

struct TransferRow {
  int step = 0, rule = 0, from = 0, to = 0;
  double start_s = 0, done_s = 0;  // since training began: handed to the network, its last byte is there
  std::int64_t bytes = 0;          // payload
};

class TransferLog {
 public:
  // Truncates the file of an earlier replay. Throws RunError. `rules` name the rows and must outlive it.
  TransferLog(const std::string& folder, const std::vector<OperationRule>& rules);

  // Whether one more is to be followed; each that is must be added once.
  bool take() { return taken_ < kMostTransferRows && ++taken_; }
  void add(const TransferRow& row);  // in the order of arrival
  void finish() { out_.flush(); }

 private:
  const std::vector<OperationRule>& rules_;
  CsvWriter out_;
  std::int64_t taken_ = 0;
};

}  // namespace longhaul
