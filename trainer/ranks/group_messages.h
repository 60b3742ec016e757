// The messages of a group whose members live in several processes: each rank that holds members sends what
// they contribute, encoded, to the others that do, and gets theirs.
#pragma once

#include <map>
#include <memory>
#include <vector>

#include "trainer/codecs/message.h"
#include "trainer/ranks/ranks.h"
#include "trainer/replicas/arena.h"

namespace longhaul {

// Of the members of a group, who is held here and who is not.
struct GroupSplit {
  std::vector<int> here, elsewhere;
  bool spans_ranks() const { return !here.empty() && !elsewhere.empty(); }
};

GroupSplit split(const std::vector<int>& group, const RowBlock& held);

class GroupMessages {
 public:
  // Under way when it returns. `encoded` has the messages of the members that are held here, by replica; they
  // stay where they are until wait() returned. All have `format`. `channel` as in ranks.h.
  GroupMessages(Ranks& ranks, const GroupSplit& group, int replicas,
                const std::map<int, const Message*>& encoded, MessageFormat format, int channel);

  // The messages of the members that live elsewhere, by replica.
  std::map<int, Message> wait();

 private:
  MessageFormat format_;
  std::map<int, std::vector<std::uint8_t>> received_;
  std::vector<std::unique_ptr<Transfer>> under_way_;
};

}  // namespace longhaul
