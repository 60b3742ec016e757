// Carries out the operations of a plan on the host: makes the messages, keeps those that are pending, brings
// them to the other processes, and lets the update take its step on what arrived.
//
//   post(operation)    its payload is packed (codec, error feedback) where it is not awaited at once
//   apply(operation)   the step of each group's members that are held here
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "trainer/codecs/reduction.h"
#include "trainer/operations/group_messages.h"
#include "trainer/operations/update.h"
#include "trainer/ranks/ranks.h"
#include "trainer/replicas/arena.h"

namespace longhaul {

class OperationRunner {
 public:
  OperationRunner(const Update& update, Replicas& replicas) : update_(update), replicas_(replicas) {}

  // Whose takers are given may get others until it is applied: then what goes to other processes waits until
  // it is used.
  void post(const Operation& operation);
  // Of one that was posted. What was sent ahead for it by others of its stage that are due at its step is
  // used too.
  void apply(const Operation& operation);
  // Both at once.
  void run(const Operation& operation);
  // Of these replicas, which are held here.
  void take(const LocalStep& local, const std::vector<int>& replicas);

  // What of these operations, posted and not applied, a checkpoint has to keep: the messages of all members,
  // in the same order on all ranks, with their names there: "pending.RULE.STEP.TENSOR.REPLICA".
  struct Pending {
    std::string name, tensor;
    int replica = 0;
    MessageFormat format;
    const Message* message = nullptr;  // null where the replica lives elsewhere
  };
  std::vector<Pending> pending(const std::vector<Operation>& operations) const;
  // The reverse: as if the operations had been posted. fetch() is asked for the bytes of every message, in
  // the order of pending(); what it returns for replicas that live elsewhere is not looked at.
  using FetchMessage = std::function<std::vector<std::uint8_t>(const Pending&)>;
  void restore(const std::vector<Operation>& operations, const FetchMessage& fetch);
  // Of one, beside what else was posted.
  void put(const Operation& operation, const FetchMessage& fetch);

  const Update& update() const { return update_; }
  // The message of `tensor` that `replica` sent ahead for the operation; null: it did not.
  const Message* sent_ahead(const Operation& operation, const std::string& tensor, int replica) const;
  // Before all ranks stop: until what was sent ahead has arrived.
  void settle();
  // Whether anything was sent ahead for its step; the same on all ranks.
  bool has_ahead(const Operation& operation) const;

 private:
  // By tensor and replica: of those that are held here.
  struct Posted {
    Operation operation;
    std::map<std::pair<std::string, int>, Message> messages;
    // Of groups that span processes, by tensor and first member held here. After a resume there is none: then
    // the messages travel when they are used.
    std::map<std::pair<std::string, int>, GroupMessages> under_way;
  };
  using Key = std::pair<std::string, int>;  // rule, post step

  static Key key_of(const Operation& operation) { return {operation.rule->name, operation.post_step}; }
  void begin_log(const Operation& operation);
  void log_elsewhere(const Operation& operation, const GroupSplit& group);
  void log_shards(const Operation& operation, const GroupSplit& group, int members);

  MessageFormat format_of(const Operation& operation, PayloadPart part) const;  // of what is contributed
  std::int64_t sent_bytes(const PayloadPart& part) const;                       // of a message on the wire
  Message make_message(const Operation& operation, const PayloadPart& part, int replica);  // a view
  float* error_of(const PayloadPart& part, int replica);  // null where nothing is fed back
  // Of what a member, held here or not, sent or sends for the operation.
  PayloadPart part_of(const Operation& operation, const std::string& tensor, int replica) const;
  const Posted* ahead_of(const Operation& operation, const std::string& tensor, int replica) const;
  Message message_of(const Operation& operation, const std::string& tensor, int replica);
  // By replica; `here` are those of the members that this process holds.
  std::map<int, Message> from_elsewhere(const Operation& operation, const std::string& tensor,
                                        const GroupSplit& group, const std::map<int, Message>& here);
  bool counts_senders(const Message& message_here) const;
  static const Codec* rounding_of_mean(const Operation& operation, const std::string& tensor);
  ContributionsOf contributions_over_ranks(const std::vector<Message>& mine);
  const float* add_up(const Message& own, int replica, std::int64_t begin, std::int64_t end,
                      const float* mean);
  void step_group(const Operation& operation, const std::vector<int>& group, const GroupSplit& parts);
  void step_over_ranks(const Operation& operation, const GroupSplit& group);
  void pass_on(const Operation& operation, const std::vector<int>& group, const GroupSplit& parts);

  const Update& update_;
  Replicas& replicas_;
  std::map<Key, Posted> posted_;
};

}  // namespace longhaul
