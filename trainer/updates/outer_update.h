// What the methods with an outer step share: slow weights, the messages of a group, and anchors that were
// sent ahead.
#pragma once

#include <map>
#include <vector>

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

 private:
  // The outer step of one group over columns [begin, end).
  virtual void step(const std::vector<OuterMember>& group, std::int64_t begin, std::int64_t end) const = 0;
  // Whether the step reads the members' anchors φ.
  virtual bool needs_anchors() const { return false; }

  std::vector<OuterMember> members(const std::vector<int>& group, bool anchors_come_along,
                                   Replicas& replicas);
  Message take_anchor(int replica, Replicas& replicas);

  // Anchors in flight, by replica. At the first outer step there are none: nobody sends what everybody was
  // initialized with.
  std::map<int, Message> in_flight_;
};

}  // namespace longhaul
