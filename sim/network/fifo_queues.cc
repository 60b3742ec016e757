#include "sim/network/fifo_queues.h"

#include <algorithm>

#include "core/base/index.h"
#include "net/tcp/fifo.h"

namespace longhaul {
namespace {

constexpr double kSameInstant = 1e-9;

}  // namespace

class FlowFifoPath : public FifoPath {
 public:
  FlowFifoPath(FifoQueues& queues, int number) : queues_(queues), number_(number) {}

  double ack_wait_s(double arrival_s) const override {
    double wait_s = 0;
    for (const LinkDirection direction : queues_.known(number_).facts->acks)
      wait_s = std::max(wait_s, queues_.wait_s(direction, arrival_s));
    return wait_s;
  }
  double room(double begin_s, double end_s, double level) override {
    return queues_.room(number_, begin_s, end_s, level);
  }

 private:
  FifoQueues& queues_;
  int number_;
};

FifoQueues::FifoQueues(const TcpSpec& tcp, const Topology& topology, const FairShares& shares)
    : tcp_(tcp), topology_(topology), shares_(shares), queues_(2 * topology.links().size()) {}

std::unique_ptr<FifoPath> FifoQueues::add(int number, const ConnectionFacts& facts) {
  Known known;
  known.facts = &facts;
  known.at = facts.data.front();
  known_.push_back(known);
  return std::make_unique<FlowFifoPath>(*this, number);
}

LinkDirection FifoQueues::waits_at(const ConnectionFacts& facts) const {
  LinkDirection fullest = facts.data.front();
  double least = kUnlimited;
  for (const LinkDirection direction : facts.data) {
    const double flows =
        static_cast<double>(std::max<std::size_t>(1, shares_.sending_over(direction).size()));
    const double each = topology_.rate(direction) / flows;
    if (each >= least) continue;
    least = each;
    fullest = direction;
  }
  return fullest;
}

void FifoQueues::sent(int number, double until_s) {
  Queue& there = queue(known(number).at);
  there.until_s = std::max(there.until_s, until_s);
}

void FifoQueues::sends(int number, double now_s, double until_s) {
  Known& known = known_[as_index(number)];
  known.until_s = until_s;
  known.at = waits_at(*known.facts);
  Queue& there = queue(known.at);
  if (there.until_s < now_s - kSameInstant) there.from_s = now_s;
  there.until_s = std::max(there.until_s, now_s);
}

double FifoQueues::wait_s(LinkDirection direction, double arrival_s) const {
  if (queue(direction).from_s > arrival_s) return 0;
  double until_s = queue(direction).until_s;
  for (const int flow : shares_.sending_over(direction))
    if (known(flow).at == direction) until_s = std::max(until_s, known(flow).until_s);
  return std::max(0., until_s - arrival_s);
}

// At least a segment: however many share a queue, a window of one segment passes.
double FifoQueues::room(int number, double begin_s, double end_s, double level) {
  const Known& known_here = known(number);
  std::vector<Reserved>& reserved = queue(known_here.at).reserved;
  const auto is_over = [&](const Reserved& other) {
    return other.flow == number || other.until_s <= begin_s + kSameInstant;
  };
  reserved.erase(std::remove_if(reserved.begin(), reserved.end(), is_over), reserved.end());
  double left = fifo_payload(tcp_, topology_.rate(known_here.at), known_here.facts->rtt_s);
  for (const Reserved& other : reserved) left -= other.bytes;
  const double room = std::max<double>(left, tcp_.segment);
  reserved.push_back({number, end_s, std::min(level, room)});
  return room;
}

}  // namespace longhaul
