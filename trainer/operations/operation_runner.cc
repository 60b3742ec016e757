#include "trainer/operations/operation_runner.h"

#include <algorithm>
#include <iterator>
#include <stdexcept>

#include "core/base/index.h"
#include "trainer/ranks/chained_sum.h"

namespace longhaul {

namespace {

std::vector<const Message*> in_order(const std::vector<int>& group, const std::map<int, Message>& messages) {
  std::vector<const Message*> ordered;
  for (const int replica : group) ordered.push_back(&messages.at(replica));
  return ordered;
}

// The columns that an operation's step is about: the same of all its tensors.
Columns columns_of(const Operation& operation, std::int64_t parameters) {
  const Payload& payload = operation.rule->payload;
  for (const PayloadPart& part : payload)
    if (part.columns != payload.front().columns)
      throw std::logic_error("the tensors of operation \"" + operation.rule->name +
                             "\" have different columns");
  return ranges_of(payload.front().columns, parameters);
}

// The mean of reduction.h, of these columns of the model, with the rows in which servers keep what their
// rounding left out. These errors are known to all members alike: each row of them is read and written, so
// that any number of processes has the bytes of one.
std::vector<float> rounded_mean(const Columns& columns, const Codec& codec, int members, Arena& arena,
                                const ContributionsOf& contributions) {
  std::int64_t count = 0;
  for (const ColumnRange& range : columns) count += range.size();
  if (codec.reduction != Reduction::kServers) return reduced_mean(codec, count, members, contributions);
  const RowBlock& held = arena.held();
  const float* row = arena.row(Slot::kServerError, held.first);
  std::vector<float> errors;
  for (const ColumnRange& range : columns) errors.insert(errors.end(), row + range.begin, row + range.end);
  std::vector<float> mean = reduced_mean(codec, count, members, contributions, errors.data());
  for (int replica = held.first; replica < held.end; ++replica) {
    const float* from = errors.data();
    for (const ColumnRange& range : columns) {
      std::copy_n(from, range.size(), arena.row(Slot::kServerError, replica) + range.begin);
      from += range.size();
    }
  }
  return mean;
}

}  // namespace

void OperationRunner::run(const Operation& operation) {
  post(operation);
  apply(operation);
}

// A blocking operation is packed when it is applied, one group after the other: nothing changes in between.
void OperationRunner::post(const Operation& operation) {
  if (operation.rule->is_blocking()) return;
  PostedMessages::Posted& posted = posted_.add(operation);
  begin_log(operation);
  for (const std::vector<int>& group : sorted_groups(operation, replicas_.arena.replicas())) {
    replicas_.log.group(group);
    const GroupSplit parts = split(operation, group, replicas_);
    for (const PayloadPart& part : operation.rule->payload) {
      std::map<int, const Message*> mine;
      for (const int replica : parts.here) {
        Message& message = posted.messages[{part.tensor, replica}] =
            make_message(operation, part, replica).encoded(error_of(part, replica));
        replicas_.log.sent(replica, part.tensor, sent_bytes(part));
        mine[replica] = &message;
      }
      if (!operation.takers && !parts.here.empty() && parts.spans_ranks() &&
          !has_one_mean(operation, parts, replicas_.arena.replicas()))
        posted.under_way.emplace(
            PostedMessages::Place(part.tensor, parts.here[0]),
            GroupMessages(
                replicas_.ranks, parts, replicas_.arena.replicas(), mine,
                [&](int) { return format_of(operation, part, replicas_.arena.parameters()); }, kAhead));
    }
  }
  replicas_.log.end();
}

void OperationRunner::apply(const Operation& operation) {
  const bool is_logged = operation.rule->is_blocking();
  if (is_logged) begin_log(operation);
  std::vector<int> stepped;
  // A fixed group order on all ranks avoids deadlock.
  for (const std::vector<int>& group : sorted_groups(operation, replicas_.arena.replicas())) {
    if (is_logged) replicas_.log.group(group);
    const GroupSplit parts = split(operation, group, replicas_);
    if (is_logged && parts.here.empty()) log_elsewhere(operation, parts);
    if (parts.ranks.count(replicas_.ranks.rank()) == 0) continue;
    if (operation.rule->sharded) {
      log_shards(operation, parts, static_cast<int>(group.size()));
      continue;
    }
    if (update_.reads(operation).empty()) continue;
    operation.rule->kind == OperationKind::kAllToAll ? pass_on(operation, group, parts)
                                                     : step(operation, group, parts);
    for (const Operation::Taker& taker : takers_of(operation, group, parts, replicas_.arena.held()))
      stepped.push_back(taker.replica);
  }
  replicas_.backend.for_each(static_cast<int>(stepped.size()), [&](int at) {
    update_.finish(operation, stepped[as_index(at)], replicas_.arena);
  });
  if (is_logged) replicas_.log.end();
  posted_.erase(operation);
}

void OperationRunner::take(const LocalStep& local, const std::vector<int>& replicas) {
  Arena& arena = replicas_.arena;
  replicas_.backend.for_each(static_cast<int>(replicas.size()), [&](int at) {
    update_.take(local, replicas[as_index(at)], {0, arena.parameters()}, arena);
  });
}

void OperationRunner::begin_log(const Operation& operation) {
  replicas_.log.begin(operation.post_step, operation.rule->name);
}

// Shards are of rows that all hold alike: gathering them moves no number.
void OperationRunner::log_shards(const Operation& operation, const GroupSplit& group, int members) {
  for (const PayloadPart& part : operation.rule->payload)
    for (const int replica : group.here)
      replicas_.log.sent(
          replica, part.tensor,
          encoded_bytes(part.codec,
                        contributed_columns(*operation.rule, part, replicas_.arena.parameters(), members)));
}

// The first rank writes what all send, also where it holds no member itself.
void OperationRunner::log_elsewhere(const Operation& operation, const GroupSplit& group) {
  for (const std::string& tensor : update_.reads(operation))
    if (const PayloadPart* part = find_part(operation, tensor))
      for (const int replica : group.elsewhere) replicas_.log.sent(replica, tensor, sent_bytes(*part));
}

std::int64_t OperationRunner::sent_bytes(const PayloadPart& part) const {
  return encoded_bytes(part.codec, column_count(part.columns, replicas_.arena.parameters()));
}

Message OperationRunner::make_message(const Operation& operation, const PayloadPart& part, int replica) {
  Arena& arena = replicas_.arena;
  const auto [slot, less] = update_.source(part.tensor);
  return Message(format_of(operation, part, arena.parameters()),
                 RowSource{arena.row(slot, replica), less ? arena.row(*less, replica) : nullptr});
}

float* OperationRunner::error_of(const PayloadPart& part, int replica) {
  return part.codec.feedback != Feedback::kNone ? replicas_.arena.row(Slot::kError, replica) : nullptr;
}

// What could not be sent ahead is read as the operation's own payload would be.
PayloadPart OperationRunner::part_of(const Operation& operation, const std::string& tensor,
                                     int replica) const {
  if (const PostedMessages::Posted* posted = posted_.ahead_of(operation, tensor, replica))
    return *find_part(posted->operation, tensor);
  const PayloadPart* sent = find_part(operation, tensor);
  PayloadPart part = sent ? *sent : operation.rule->payload.front();
  part.tensor = tensor;
  return part;
}

// A view where that reads as the same numbers.
Message OperationRunner::message_of(const Operation& operation, const std::string& tensor, int replica) {
  if (const Message* ahead = posted_.sent_ahead(operation, tensor, replica)) return *ahead;
  const PayloadPart part = part_of(operation, tensor, replica);
  Message message = make_message(operation, part, replica);
  if (!part.codec.is_plain()) message = message.encoded(error_of(part, replica));
  if (find_part(operation, tensor)) replicas_.log.sent(replica, tensor, sent_bytes(part));
  return message;
}

std::map<int, Message> OperationRunner::from_elsewhere(const Operation& operation, const std::string& tensor,
                                                       const GroupSplit& group,
                                                       const std::map<int, Message>& here) {
  if (!group.here.empty())
    if (auto under_way = posted_.wait(operation, tensor, group.here[0])) return std::move(*under_way);
  std::map<int, Message> packed;
  std::map<int, const Message*> mine;
  for (const int replica : group.here) {
    packed[replica] = here.at(replica).encoded();
    mine[replica] = &packed[replica];
  }
  const auto format = [&](int replica) {
    const PostedMessages::Posted* ahead = posted_.ahead_of(operation, tensor, replica);
    return format_of(ahead ? ahead->operation : operation, part_of(operation, tensor, replica),
                     replicas_.arena.parameters());
  };
  return GroupMessages(replicas_.ranks, group, replicas_.arena.replicas(), mine, format, kLockstep).wait();
}

// Of EF21 (arXiv 2106.05203) messages are changes: what they are changes of, its mean over all replicas, is
// kept. Of other codecs the mean itself.
const float* OperationRunner::add_up(const Message& own, int replica, std::int64_t begin, std::int64_t end,
                                     const float* mean) {
  if (own.format().codec.feedback != Feedback::kEf21) return mean;
  float* kept = replicas_.arena.row(Slot::kSentMean, replica) + begin;
  for (std::int64_t i = 0; i < end - begin; ++i) kept[i] += mean[i];
  return kept;
}

bool OperationRunner::counts_senders(const Message& message) const {
  return update_.counts_senders_alone() && message.format().codec.chooses_columns();
}

// Whether the tensor's mean is that of reduction.h.
const Codec* OperationRunner::rounding_of_mean(const Operation& operation, const std::string& tensor) {
  const PayloadPart* part = find_part(operation, tensor);
  return part && part->codec.reduction != Reduction::kOnce ? &part->codec : nullptr;
}

// Everyone gets all of a few columns.
ContributionsOf OperationRunner::contributions_over_ranks(const std::vector<Message>& mine) {
  return [&](std::int64_t begin, std::int64_t end, float* out) {
    const RowBlock& held = replicas_.arena.held();
    for (int replica = 0; replica < replicas_.arena.replicas(); ++replica, out += end - begin) {
      if (held.contains(replica)) mine[as_index(replica - held.first)].read_places(begin, end, out);
      broadcast(replicas_.ranks, holder_of(replicas_.ranks, replicas_.arena.replicas(), replica), out,
                as_index(end - begin) * sizeof(float));
    }
  };
}

// A mean that is made of all columns at once: where members count that sent a column, or where it is rounded
// on its way. Empty: it is made column by column. `heard`: the messages that it is of; none of them where the
// rows of all are spread over the ranks, whose own are `mine`.
std::vector<float> OperationRunner::whole_mean(const Operation& operation, const std::string& tensor,
                                               const std::vector<const Message*>& heard,
                                               const std::vector<Message>& mine) {
  if (counts_senders(heard.empty() ? mine.front() : *heard.front()))
    return heard.empty() ? mean_of_senders_over_ranks(replicas_.ranks, mine) : mean_of_senders(heard);
  const Codec* codec = rounding_of_mean(operation, tensor);
  if (!codec) return {};
  const ContributionsOf of_heard = [&](std::int64_t begin, std::int64_t end, float* out) {
    for (const Message* message : heard) {
      message->read_places(begin, end, out);
      out += end - begin;
    }
  };
  return rounded_mean(columns_of(operation, replicas_.arena.parameters()), *codec,
                      heard.empty() ? replicas_.arena.replicas() : static_cast<int>(heard.size()),
                      replicas_.arena, heard.empty() ? contributions_over_ranks(mine) : of_heard);
}

// The step of a group's takers on the means of what they heard. Where the group is everyone, spread over
// several ranks, the rows of all are too many to come here: their mean comes, a chunk at a time.
void OperationRunner::step(const Operation& operation, const std::vector<int>& group,
                           const GroupSplit& parts) {
  const std::vector<std::string> tensors = update_.reads(operation);
  const bool over_ranks = parts.spans_ranks() && has_one_mean(operation, parts, replicas_.arena.replicas());
  std::vector<std::map<int, Message>> messages(tensors.size());
  std::vector<std::vector<Message>> mine(tensors.size());  // where their mean comes over the ranks
  for (std::size_t i = 0; i < tensors.size(); ++i) {
    for (const int replica : parts.here) messages[i][replica] = message_of(operation, tensors[i], replica);
    for (const int replica : parts.here)
      if (over_ranks) mine[i].push_back(messages[i][replica]);
    if (parts.spans_ranks() && !over_ranks)
      messages[i].merge(from_elsewhere(operation, tensors[i], parts, messages[i]));
  }

  const std::vector<Operation::Taker> takers = takers_of(operation, group, parts, replicas_.arena.held());
  const std::vector<std::vector<int>> heard = heard_by(operation, takers, group);
  const std::size_t means_of_tensor = heard.size();
  std::vector<std::vector<const Message*>> of_heard(tensors.size() * means_of_tensor);
  std::vector<std::vector<float>> wholes(of_heard.size());  // by tensor, then as `heard`
  for (std::size_t i = 0; i < tensors.size(); ++i)
    for (std::size_t k = 0; k < means_of_tensor; ++k) {
      std::vector<const Message*>& those = of_heard[i * means_of_tensor + k];
      if (!over_ranks) those = in_order(heard[k], messages[i]);
      wholes[i * means_of_tensor + k] = whole_mean(operation, tensors[i], those, mine[i]);
    }
  // All means of a block come before any step on it: messages may be views of the rows. `of_chunk`: what has
  // come over the ranks.
  const auto arrive = [&](ColumnRange piece, const ColumnRange& chunk,
                          const std::vector<std::vector<float>>& of_chunk, const Update::Take& take) {
    std::vector<std::vector<float>> means(of_heard.size(), std::vector<float>(kBlock));
    std::vector<Arrived::Tensor> arrived;
    for (const std::string& tensor : tensors) arrived.push_back({tensor.c_str(), nullptr, nullptr});
    for (std::int64_t at = piece.begin; at < piece.end; at += kBlock) {
      const std::int64_t to = std::min(piece.end, at + kBlock);
      for (std::size_t m = 0; m < means.size(); ++m) {
        const MessageFormat& format = messages[m / means_of_tensor].begin()->second.format();
        if (!wholes[m].empty())
          std::copy_n(wholes[m].data() + format.place_of(at), to - at, means[m].data());
        else if (over_ranks)
          std::copy_n(of_chunk[m].data() + (at - chunk.begin), to - at, means[m].data());
        else
          mean_of(of_heard[m], at, to, means[m].data());
      }
      for (std::size_t taker = 0; taker < takers.size(); ++taker) {
        const std::size_t k = std::min(taker, means_of_tensor - 1);
        for (std::size_t i = 0; i < tensors.size(); ++i) {
          arrived[i].own = &messages[i].at(takers[taker].contributor);
          arrived[i].mean =
              add_up(*arrived[i].own, takers[taker].replica, at, to, means[i * means_of_tensor + k].data());
        }
        take(takers[taker].replica, Arrived(at, to, static_cast<int>(heard[k].size()), arrived));
      }
    }
  };
  std::vector<int> taking;
  for (const Operation::Taker& taker : takers) taking.push_back(taker.replica);
  for (const ColumnRange& range : columns_of(operation, replicas_.arena.parameters()))
    for (const ColumnRange& chunk : in_pieces(range, over_ranks ? kChunk : range.size())) {
      std::vector<std::vector<float>> of_chunk(tensors.size());
      for (std::size_t i = 0; over_ranks && i < tensors.size(); ++i)
        if (wholes[i].empty())
          of_chunk[i] = mean_over_ranks(replicas_.ranks, replicas_.backend, mine[i], chunk);
      const std::vector<ColumnRange> pieces = update_.pieces(chunk, static_cast<int>(takers.size()));
      replicas_.backend.for_each(static_cast<int>(pieces.size()), [&](int at) {
        update_.apply_piece(
            operation, taking, pieces[as_index(at)], replicas_,
            [&](const Update::Take& take) { arrive(pieces[as_index(at)], chunk, of_chunk, take); });
      });
    }
}

// Each member sends the columns that were its own, in their order, padded to the longest contribution; what a
// member keeps is rounded like the rest. Every process gets all of them, though only the parts that change
// their owner are in the simulated traffic: updates may keep the whole model beside a replica's part of it.
void OperationRunner::pass_on(const Operation& operation, const std::vector<int>& group,
                              const GroupSplit& parts) {
  Arena& arena = replicas_.arena;
  const OperationRule& rule = *operation.rule;
  if (!rule.is_blocking() || rule.payload.size() != 1 || !rule.payload[0].codec.is_plain())
    throw std::logic_error("an all-to-all is blocking, of one tensor, in plain numbers");
  const ColumnHolders holders = update_.holders(operation);
  const std::vector<int>& before = *holders.before;
  PayloadPart part = rule.payload[0];
  const Columns columns = ranges_of(part.columns, arena.parameters());
  part.columns.clear();
  const std::int64_t longest =
      contributed_columns(rule, part, arena.parameters(), static_cast<int>(group.size()));
  const MessageFormat format(part, longest);
  const auto for_each_column = [&](const auto& work) {
    for (const ColumnRange& range : columns)
      for (std::int64_t column = range.begin; column < range.end; ++column) work(column);
  };

  std::map<int, std::vector<float>> rows;  // by member
  for (const int member : group) rows[member].resize(as_index(longest));
  std::map<int, std::size_t> counts;
  for_each_column([&](std::int64_t column) {
    const int owner = before[as_index(column)];
    const std::size_t at = counts[owner]++;
    if (arena.held().contains(owner))
      rows.at(owner).at(at) = arena.row(update_.source(part.tensor).first, owner)[column];
  });
  std::map<int, Message> messages;
  std::map<int, const Message*> mine;
  for (const int member : parts.here) {
    messages[member] = Message(format, RowSource{rows[member].data(), nullptr}).encoded();
    replicas_.log.sent(member, part.tensor, messages[member].size());
    mine[member] = &messages[member];
  }
  if (parts.spans_ranks())
    messages.merge(GroupMessages(
                       replicas_.ranks, parts, arena.replicas(), mine, [&](int) { return format; }, kLockstep)
                       .wait());
  for (auto& [member, row] : rows)
    for (std::int64_t begin = 0; begin < longest; begin += kBlock)
      messages.at(member).read(begin, std::min(longest, begin + kBlock), row.data() + begin);

  std::vector<float> whole(as_index(arena.parameters()));
  counts.clear();
  for_each_column([&](std::int64_t column) {
    const int owner = before[as_index(column)];
    whole[as_index(column)] = rows.at(owner)[counts[owner]++];
  });
  for (const ColumnRange& range : columns)
    for_each_piece(replicas_.backend, range.size(), [&](std::int64_t from, std::int64_t to) {
      for (std::int64_t begin = range.begin + from; begin < range.begin + to; begin += kBlock) {
        const std::int64_t end = std::min(range.begin + to, begin + kBlock);
        const std::vector<Arrived::Tensor> arrived = {{part.tensor.c_str(), whole.data() + begin, nullptr}};
        for (const int member : parts.here)
          update_.apply(operation, member, Arrived(begin, end, static_cast<int>(group.size()), arrived),
                        arena);
      }
    });
}

}  // namespace longhaul
