// One operation of one group, as its members and the replay's program see it.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "core/plan/operations.h"
#include "replay/exchange/exchange_run.h"

namespace longhaul {

class GroupOperation {
 public:
  using MemberDone = std::function<void(int replica)>;

  // The exchange's rule must outlive it. `group`: replicas, in the order of the group.
  GroupOperation(const Operation& exchange, int rule_index, std::vector<int> group)
      : exchange_(exchange), rule_index_(rule_index), group_(std::move(group)) {}
  virtual ~GroupOperation() = default;
  GroupOperation(const GroupOperation&) = delete;  // what they start calls back
  GroupOperation& operator=(const GroupOperation&) = delete;

  int rule_index() const { return rule_index_; }
  int step() const { return exchange_.post_step; }
  const OperationRule& rule() const { return *exchange_.rule; }
  const std::vector<int>& group() const { return group_; }

  // The next bucket of this replica's contribution may go; with the last one the replica is ready.
  virtual void release(int replica) = 0;
  // Those of the group that take part, once that is settled.
  virtual const std::vector<int>& participants() const { return group_; }
  virtual MemberTimes times(int replica) const = 0;
  virtual bool is_done(int replica) const = 0;
  virtual bool is_finished() const = 0;
  // No member has a result.
  virtual bool is_discarded() const { return false; }
  // When the last one that takes part was ready, and all were done. Once it is finished.
  virtual double start_s() const = 0;
  virtual double done_s() const = 0;
  // When the last one that this member must hear from was ready, and itself. Once it is done.
  virtual double start_s(int replica) const = 0;
  virtual std::int64_t transfers() const = 0;
  virtual std::vector<std::string> waiting() const = 0;  // who waits for whom, a line each

 protected:
  const Operation exchange_;

 private:
  int rule_index_;
  std::vector<int> group_;
};

}  // namespace longhaul
