// What the methods with an outer step share: slow weights, the messages of a group, and anchors that were
// sent ahead.
#pragma once

#include <map>
#include <vector>

#include "trainer/ranks/group_messages.h"
#include "trainer/updates/outer_member.h"
#include "trainer/updates/update.h"

namespace longhaul {

class OuterUpdate : public Update {
 public:
  int slots() const override { return kSlotsWithOuterOptimizer; }
  void start(Replicas& replicas) override;  // φ = θ, no momentum
  void exchange(const Exchange& exchange, Replicas& replicas) override;
  void post(const Exchange& exchange, Replicas& replicas) override;
  std::map<int, Message>* in_flight() override { return &in_flight_; }

 protected:
  // The members of a group that are held here, with their messages.
  std::vector<OuterMember> members_here(const std::vector<int>& group, bool anchors_come_along,
                                        Replicas& replicas);

 private:
  // The outer step of one group over columns [begin, end); it changes the members that are held here.
  virtual void step(const std::vector<OuterMember>& group, std::int64_t begin, std::int64_t end) const = 0;
  // Whether the step reads the members' anchors φ.
  virtual bool needs_anchors() const { return false; }

  // The exchange of a group whose members live in several processes, some of them here.
  virtual void exchange_over_ranks(const Exchange& exchange, const std::vector<int>& group,
                                   Replicas& replicas);

  void step_in_pieces(const std::vector<OuterMember>& group, Replicas& replicas) const;
  void send_ahead(const GroupSplit& group, Replicas& replicas);
  std::map<int, Message> anchors_from_elsewhere(const GroupSplit& group, const std::vector<OuterMember>& mine,
                                                Replicas& replicas);
  Message take_anchor(int replica, Replicas& replicas);

  // Anchors in flight, by replica. At the first outer step there are none: nobody sends what everybody was
  // initialized with.
  std::map<int, Message> in_flight_;
  // Their way to and from other processes, by the first member of the group. After a resume there is none:
  // then they travel when they are used.
  std::map<int, GroupMessages> ahead_;
};

}  // namespace longhaul
