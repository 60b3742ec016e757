// How an Engine is made of a topology, and its connections.
#include <fmt/core.h>

#include <algorithm>
#include <numeric>

#include "net/linux/engine_parts.h"

namespace longhaul::linux_tcp {

Engine::Engine(const EngineRules& rules, const Topology& topology, QueueMaker queue_of,
               LinkSchedule* schedule)
    : rules_(rules),
      topology_(topology),
      queue_of_(std::move(queue_of)),
      schedule_(schedule),
      lines_(2 * as_index(topology.link_count())) {
  make_cells();
  if (rules.threads > 1 && !schedule) crew_.emplace(rules.threads);  // a schedule is looked at by one
  for (int replica = 0; replica < topology.replicas(); ++replica)
    spread_.emplace_back(rules.seed, Purpose::kHostNoise, static_cast<std::uint32_t>(replica), 2);
  const auto steps = static_cast<double>(noise_quantiles_.size());
  for (std::size_t i = 0; i < noise_quantiles_.size(); ++i) {
    const double drawn = -std::log1p(-(static_cast<double>(i) + 0.5) / steps) * rules.noise.mean_s;
    noise_quantiles_[i] = static_cast<std::int32_t>(to_ns(std::min(drawn, rules.noise.most_s)));
  }
}

Engine::~Engine() = default;

// Nodes that a link without a delay joins are one group; replicas and such groups have a cell.
void Engine::make_cells() {
  group_.resize(as_index(topology_.nodes()));
  std::iota(group_.begin(), group_.end(), 0);
  const auto root = [&](int node) {
    while (group_[as_index(node)] != node) node = group_[as_index(node)];
    return node;
  };
  cell_of_group_.assign(group_.size(), -1);
  std::vector<bool> has_cell(group_.size());
  for (int replica = 0; replica < topology_.replicas(); ++replica) has_cell[as_index(replica)] = true;
  for (int number = 0; number < topology_.link_count(); ++number) {
    const Link& link = topology_.link(number);
    if (to_ns(link.delay_s) > 0) {
      least_lookahead_ = std::min(least_lookahead_, to_ns(link.delay_s));
      continue;
    }
    const int kept = std::min(root(link.first), root(link.second));
    group_[as_index(root(link.first))] = group_[as_index(root(link.second))] = kept;
    has_cell[as_index(kept)] = true;
  }
  for (int node = 0; node < topology_.nodes(); ++node) {
    const int group = group_[as_index(node)] = root(node);
    if (cell_of_group_[as_index(group)] >= 0) has_inside_ |= node < topology_.replicas();
    if (!has_cell[as_index(group)] || cell_of_group_[as_index(group)] >= 0) continue;
    cell_of_group_[as_index(group)] = static_cast<int>(cells_.size());
    cells_.emplace_back();
  }
  next_.assign(cells_.size(), kNever);
}

Engine::Line& Engine::line(LinkDirection direction) {
  std::unique_ptr<Line>& line = lines_[as_index(direction)];
  if (line) return *line;
  const QueueRules queue = queue_of_(direction);
  const Pace pace = schedule_ ? Pace(*schedule_, direction) : Pace(queue.rate);
  line = std::make_unique<Line>(queue, pace, rules_.seed, direction);
  line->delay = to_ns(topology_.link(direction / 2).delay_s);
  line->ends_at_host = topology_.to(direction) < topology_.replicas();
  line->cell = cell_of(direction);
  if (queue.is_fair) line->fair.emplace(queue, pace);
  return *line;
}

// That of the node that it begins at. A router by itself has none: the queue in front of a replica is the
// replica's, one between two routers has a cell of its own.
int Engine::cell_of(LinkDirection direction) {
  const auto cell_of_node = [&](int node) { return cell_of_group_[as_index(group_[as_index(node)])]; };
  const int from = topology_.from(direction), to = topology_.to(direction);
  if (cell_of_node(from) >= 0) return cell_of_node(from);
  if (to < topology_.replicas()) return cell_of_node(to);
  const auto [known, is_new] = trunk_cells_.insert({direction, static_cast<int>(cells_.size())});
  if (is_new) {
    cells_.emplace_back();
    next_.push_back(kNever);
  }
  return known->second;
}

int Engine::wire_between(LinkDirection direction, int cell) {
  const auto [known, is_new] = wire_numbers_.insert({{direction, cell}, static_cast<int>(wires_.size())});
  if (!is_new) return known->second;
  Line& before = line(direction);
  wires_.emplace_back(before.cell, cell);
  if (before.cell == cell) return known->second;
  if (!before.is_crossing) crossings_.push_back(direction);
  before.is_crossing = true;
  lookahead_ = std::min(lookahead_, before.delay);
  return known->second;
}

Nanoseconds Engine::lookahead_ns(Nanoseconds now) {
  if (!schedule_) return lookahead_;
  constexpr Nanoseconds kFar = 1000 * kMillisecond;
  schedule_->forget_before(now - 2 * kFar);  // cells that lag behind are a window late at most
  Nanoseconds least = kFar;
  for (const LinkDirection direction : crossings_)
    least = std::min(least, schedule_->least_delay(direction, now, now + least));
  return least;
}

void Engine::add_route(const std::vector<LinkDirection>& path, int last_cell, bool is_counted) {
  if (path.size() > kMostHops)
    throw RunError(
        fmt::format("a path of {} links: fidelity linux follows {} at most", path.size(), kMostHops));
  routes_.push_back({static_cast<int>(hops_.size()), static_cast<int>(path.size())});
  for (std::size_t i = 0; i < path.size(); ++i) {
    Line& used = line(path[i]);
    const int cell = i + 1 < path.size() ? cell_of(path[i + 1]) : last_cell;
    hops_.push_back({path[i], &used, wire_between(path[i], cell), used.flows++, is_counted});
  }
}

// Of a packet without payload.
double Engine::bare_rtt_s(const std::vector<LinkDirection>& data,
                          const std::vector<LinkDirection>& acks) const {
  double rtt_s = 0;
  for (const std::vector<LinkDirection>* path : {&data, &acks})
    for (const LinkDirection direction : *path)
      rtt_s += topology_.link(direction / 2).delay_s + 8 * kHeaderBytes / topology_.rate(direction);
  return rtt_s;
}

int Engine::add_connection(const std::vector<LinkDirection>& data, const std::vector<LinkDirection>& acks,
                           int source_cell, int target_cell, bool is_of_others) {
  const auto number = static_cast<int>(connections_.size());
  connections_.push_back(std::make_unique<Connection>(*this, number));
  connections_.back()->source_cell = source_cell;
  connections_.back()->target_cell = target_cell;
  connections_.back()->is_of_others = is_of_others;
  add_route(data, target_cell, !is_of_others);
  add_route(acks, source_cell, false);
  return number;
}

constexpr std::int64_t kReceiveBuffer = std::int64_t{1} << 30;

int Engine::connect(int source, int target, const ConnectionFacts& facts, std::optional<double> window,
                    const std::string& congestion_control) {
  const int number =
      add_connection(facts.data, facts.acks, cell_of_replica(source), cell_of_replica(target), false);
  Connection& connection = *connections_.back();
  connection.source = source;
  const Nanoseconds rtt = to_ns(bare_rtt_s(facts.data, facts.acks));
  SenderRules rules;
  rules.congestion_control = congestion_control.empty() ? rules_.congestion_control : congestion_control;
  rules.segment = rules_.segment;
  rules.slow_start_after_idle = rules_.slow_start_after_idle;
  rules.phase_ns = phase(source);
  rules.has_fq = rules_.has_fq;
  rules.buffer = rules_.buffer;
  rules.seed = rules_.seed;
  rules.connection = number;
  if (window) rules.window_limit = std::max(2, static_cast<int>(*window / rules_.segment));
  rules.has_small_queues = std::isfinite(topology_.rate(facts.data.front()));
  connection.sender.emplace(rules, rtt, connection);
  connection.receiver.emplace(rules_.segment, rtt, phase(target), kReceiveBuffer, connection);
  return number;
}

int Engine::connect_others(const std::vector<LinkDirection>& data, const std::vector<LinkDirection>& acks,
                           const std::string& congestion_control, std::optional<double> window) {
  const int number = add_connection(data, acks, cell_of(data.front()), cell_of(acks.front()), true);
  Connection& connection = *connections_.back();
  const Nanoseconds rtt = to_ns(bare_rtt_s(data, acks));
  const int host = topology_.replicas() + number;
  SenderRules rules;
  rules.congestion_control = congestion_control;
  rules.segment = rules_.segment;
  rules.phase_ns = phase(host);
  rules.seed = rules_.seed;
  rules.connection = number;
  if (window) rules.window_limit = std::max(2, static_cast<int>(*window / rules_.segment));
  rules.has_small_queues = false;
  rules.buffer.first = rules.buffer.most;  // their data are always there
  connection.sender.emplace(rules, rtt, connection);
  connection.receiver.emplace(rules_.segment, rtt, phase(host), kReceiveBuffer, connection);
  return number;
}

void Engine::set_on(int number, bool is_on, Nanoseconds now) {
  Connection& connection = *connections_[as_index(number)];
  if (cells_[as_index(connection.source_cell)].reached > now)
    throw std::logic_error("others were to send in their own past");
  connection.pending.push_back({now, is_on});
  if (connection.pending.size() == 1) schedule(connection.source_cell, {now, Source::kWrite, number});
}

// When the jiffies of a host change.
Nanoseconds Engine::phase(int host) const {
  RandomStream stream(rules_.seed, Purpose::kHostNoise, static_cast<std::uint32_t>(host), 1);
  return static_cast<Nanoseconds>(stream.below(static_cast<std::uint64_t>(kJiffy)));
}

}  // namespace longhaul::linux_tcp
