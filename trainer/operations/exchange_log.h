// What the trainer really moved between replicas, one line an exchange (train/KEY/exchanges.jsonl). It is fed
// by the code that makes the messages, with the bytes of the messages, and knows nothing of the plan: a test
// holds the two against each other.
#pragma once

#include <cstdint>
#include <iosfwd>
#include <map>
#include <string>
#include <vector>

namespace longhaul {

struct ExchangeRecord {
  int step = 0;  // at which it was posted
  std::string exchange;
  std::vector<std::vector<int>> groups;
  std::vector<std::string> tensors;  // in the order sent
  std::int64_t bytes = 0;            // contribution of one participant
};

class ExchangeLog {
 public:
  // At each end() a line goes to `out`, which must outlive the log; without one the records are kept.
  explicit ExchangeLog(std::ostream* out = nullptr) : out_(out) {}

  void begin(int step, const std::string& exchange);
  void group(const std::vector<int>& members) { open_.groups.push_back(members); }
  void sent(int replica, const std::string& tensor, std::int64_t bytes);
  void end();

  const std::vector<ExchangeRecord>& records() const { return records_; }

 private:
  std::ostream* out_;
  ExchangeRecord open_;
  std::map<int, std::int64_t> sent_;  // bytes of the open exchange, by replica
  std::vector<ExchangeRecord> records_;
};

}  // namespace longhaul
