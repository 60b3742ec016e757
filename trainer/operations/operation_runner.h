// Carries out the operations of a plan on the host: makes the messages, keeps those that are pending, brings
// them to the other processes, and lets the update take its step on what arrived.
//
//   post(operation)    its payload is packed (codec, error feedback) where it is not awaited at once
//   apply(operation)   the step of each group's members that are held here
#pragma once

#include <functional>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "trainer/operations/update.h"
#include "trainer/ranks/group_messages.h"

namespace longhaul {

class OperationRunner {
 public:
  OperationRunner(const Update& update, Replicas& replicas) : update_(update), replicas_(replicas) {}

  void post(const Operation& operation);
  // Of one that was posted. What was sent ahead for it by others that are due at its step is used too.
  void apply(const Operation& operation);
  // Both at once.
  void run(const Operation& operation);

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

  const Update& update() const { return update_; }
  // The message of `tensor` that `replica` sent ahead for the operation; null: it did not.
  const Message* sent_ahead(const Operation& operation, const std::string& tensor, int replica) const;

 private:
  // Of an operation that is under way, by tensor and replica.
  struct Posted {
    int await_step = 0;
    std::map<std::pair<std::string, int>, Message> messages;
    // Of groups that span processes, by tensor and first member held here. After a resume there is none: then
    // the messages travel when they are used.
    std::map<std::pair<std::string, int>, GroupMessages> under_way;
  };
  using Key = std::pair<std::string, int>;  // rule, post step

  static Key key_of(const Operation& operation) { return {operation.rule->name, operation.post_step}; }
  void begin_log(const Operation& operation);
  void log_shards(const Operation& operation, const GroupSplit& group, int members);

  Message make_message(const PayloadPart& part, int replica);  // a view
  float* error_of(const PayloadPart& part, int replica);       // null where nothing is fed back
  GroupMessages send(const GroupSplit& group, const std::map<int, const Message*>& mine,
                     const PayloadPart& part, int channel);

  Posted* ahead_of(const Operation& operation, const std::string& tensor, int replica);
  Message message_of(const Operation& operation, const std::string& tensor, int replica);
  // By replica; `here` are those of the members that this process holds.
  std::map<int, Message> from_elsewhere(const Operation& operation, const std::string& tensor,
                                        const GroupSplit& group, const std::map<int, Message>& here);
  void step_group(const Operation& operation, const std::vector<int>& group, const GroupSplit& parts);
  void step_over_ranks(const Operation& operation, const GroupSplit& group);

  const Update& update_;
  Replicas& replicas_;
  std::map<Key, Posted> posted_;
};

}  // namespace longhaul
