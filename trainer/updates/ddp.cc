#include "trainer/updates/ddp.h"

#include <algorithm>

#include "trainer/ranks/chained_sum.h"

namespace longhaul {
namespace {

class DdpUpdate : public Update {
 public:
  bool averages_gradients() const override { return true; }

  void exchange(const Exchange& exchange, Replicas& replicas) override {
    replicas.log.begin(exchange.post_step, exchange.rule->name);
    for (const std::vector<int>& group : sorted_groups(exchange, replicas.arena.replicas()))
      average(group, replicas);
    replicas.log.end();
  }

 private:
  static void average(const std::vector<int>& group, Replicas& replicas) {
    std::vector<Message> messages;
    std::vector<float*> rows;
    replicas.log.group(group);
    for (int replica : group) {
      if (!replicas.arena.held().contains(replica)) continue;
      rows.push_back(replicas.arena.row(Slot::kGradient, replica));
      messages.push_back(Message::of_row(rows.back(), replicas.arena.parameters(), replicas.wire));
      replicas.log.sent(replica, "gradient", messages.back().bytes());
    }
    if (replicas.ranks.size() > 1) return average_over_ranks(messages, rows, replicas);
    for_each_piece(replicas.backend, replicas.arena.parameters(),
                   [&](std::int64_t begin, std::int64_t end) { average_rows(messages, rows, begin, end); });
  }

  static void average_over_ranks(const std::vector<Message>& messages, const std::vector<float*>& rows,
                                 Replicas& replicas) {
    mean_over_ranks(replicas.ranks, replicas.backend, messages, replicas.arena.replicas(),
                    replicas.arena.parameters(),
                    [&](std::int64_t begin, std::int64_t end, const float* mean) {
                      replicas.backend.for_each(static_cast<int>(rows.size()), [&](int row) {
                        std::copy(mean, mean + (end - begin), rows[static_cast<std::size_t>(row)] + begin);
                      });
                    });
  }
};

}  // namespace

void average_rows(const std::vector<Message>& messages, const std::vector<float*>& rows, std::int64_t begin,
                  std::int64_t end) {
  std::vector<const Message*> all;
  for (const Message& message : messages) all.push_back(&message);
  float mean[kBlock];
  for (std::int64_t at = begin; at < end; at += kBlock) {
    const std::int64_t stop = std::min(end, at + kBlock);
    mean_of(all, at, stop, mean);
    for (float* row : rows) std::copy(mean, mean + (stop - at), row + at);
  }
}

std::unique_ptr<Update> make_ddp_update() {
  return std::make_unique<DdpUpdate>();
}

}  // namespace longhaul
