// The messages of a group whose members live in several processes: each rank that holds members sends what
// they contribute, encoded, to the others that do, and gets theirs.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <set>
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

}  // namespace longhaul
