// What was posted and is not applied: the messages of its members, and where they travel ahead.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "core/plan/operations.h"
#include "trainer/codecs/message.h"
#include "trainer/operations/update.h"
#include "trainer/ranks/ranks.h"

namespace longhaul {

// Of the members of a group, who is held here and who is not; and the ranks that hold members, or somebody
// who takes what comes of it (Operation::takers).
struct GroupSplit {
  std::vector<int> here, elsewhere;
  std::set<int> ranks;
  bool spans_ranks() const { return ranks.size() > 1; }
};

GroupSplit split(const Operation& operation, const std::vector<int>& group, const Replicas& replicas);

// Of everyone the mean goes from rank to rank; the messages of a small group go to all of its members, and so
// do those to targets, of which each member has a mean of its own.
bool has_one_mean(const Operation& operation, const GroupSplit& group, int replicas);

// Who takes what comes of the group, of those that this process holds.
std::vector<Operation::Taker> takers_of(const Operation& operation, const std::vector<int>& group,
                                        const GroupSplit& parts, const RowBlock& held);

// Whose messages each taker takes the mean of, in ascending order: those of the group, once for all; or for
// each its own and of those that send to it.
std::vector<std::vector<int>> heard_by(const Operation& operation,
                                       const std::vector<Operation::Taker>& takers,
                                       const std::vector<int>& group);

// The messages of a group whose members live in several processes: each rank that holds members sends what
// they contribute, encoded, to the others that do, and gets theirs.
class GroupMessages {
 public:
  using FormatOf = std::function<MessageFormat(int replica)>;
  // Under way when it returns, on one of the group's ranks. `encoded` has the messages of the members that
  // are held here, by replica; they stay where they are until wait() returned. `channel` as in ranks.h.
  GroupMessages(Ranks& ranks, const GroupSplit& group, int replicas,
                const std::map<int, const Message*>& encoded, const FormatOf& format_of, int channel);

  // The messages of the members that live elsewhere, by replica.
  std::map<int, Message> wait();
  // Until none is under way.
  void settle();

 private:
  std::map<int, std::pair<MessageFormat, std::vector<std::uint8_t>>> received_;
  std::vector<std::unique_ptr<Transfer>> under_way_;
};

const PayloadPart* find_part(const Operation& operation, const std::string& tensor);  // null: it has none
// Of what a member contributes.
MessageFormat format_of(const Operation& operation, PayloadPart part, std::int64_t parameters);

class PostedMessages {
 public:
  using Place = std::pair<std::string, int>;  // tensor, replica
  struct Posted {
    Operation operation;
    std::map<Place, Message> messages;  // of the replicas that are held here
    // Of groups that span processes, by the first member held here. After a resume there is none: then the
    // messages travel when they are used.
    std::map<Place, GroupMessages> under_way;
  };

  explicit PostedMessages(const Replicas& replicas) : replicas_(replicas) {}

  Posted& add(const Operation& operation);
  void erase(const Operation& operation) { posted_.erase(key_of(operation)); }
  // In which `replica` sent the tensor ahead for the operation; null: it did not. Of an overlapped operation
  // its own, otherwise another of the same stage that is due at the same step.
  const Posted* ahead_of(const Operation& operation, const std::string& tensor, int replica) const;
  const Message* sent_ahead(const Operation& operation, const std::string& tensor, int replica) const;
  // The messages from elsewhere that travel to the group of `replica`, its first member here, for the
  // operation.
  std::optional<std::map<int, Message>> wait(const Operation& operation, const std::string& tensor,
                                             int replica);
  // Before all ranks stop: until what was sent ahead has arrived.
  void settle();
  // Whether anything was sent ahead for its step; the same on all ranks.
  bool has_ahead(const Operation& operation) const;

  // What of these operations a checkpoint has to keep: the messages of all members, in the same order on all
  // ranks, with their names there: "pending.RULE.STEP.TENSOR.REPLICA".
  struct Pending {
    std::string name, tensor;
    int replica = 0;
    MessageFormat format;
    const Message* message = nullptr;  // null where the replica lives elsewhere
  };
  std::vector<Pending> pending(const std::vector<Operation>& operations) const;
  // The reverse: as if the operation had been posted. fetch() is asked for the bytes of every message, in the
  // order of pending(); what it returns for replicas that live elsewhere is not looked at.
  using FetchMessage = std::function<std::vector<std::uint8_t>(const Pending&)>;
  void put(const Operation& operation, const FetchMessage& fetch);

 private:
  using Key = std::pair<std::string, int>;  // rule, post step

  static Key key_of(const Operation& operation) { return {operation.rule->name, operation.post_step}; }

  const Replicas& replicas_;
  std::map<Key, Posted> posted_;
};

}  // namespace longhaul
