// What a method does to the rows of the arena when the plan says that replicas exchange. The plan (methods/)
// decides when and among whom; an update is told an exchange and carries it out through messages, and each
// message that is made is logged. One file a method.
#pragma once

#include <map>
#include <memory>
#include <vector>

#include "core/case.h"
#include "core/exchange_plan.h"
#include "trainer/exchange_log.h"
#include "trainer/ranks/ranks.h"
#include "trainer/replicas/arena.h"
#include "trainer/replicas/backend.h"
#include "trainer/replicas/message.h"

namespace longhaul {

// What an update works on; it owns none of it.
struct Replicas {
  Arena& arena;
  Backend& backend;
  Wire wire;
  ExchangeLog& log;
  Ranks& ranks = one_rank();  // who holds the rows that the arena does not
};

class Update {
 public:
  virtual ~Update() = default;

  // Rows of the arena for each replica.
  virtual int slots() const { return kSlotsOfInnerOptimizer; }
  // True: the exchange of a step comes between the gradients and the optimizer, and leaves the averaged
  // gradient in the gradient rows. False: it comes after the optimizer, and is an outer step.
  virtual bool averages_gradients() const { return false; }
  // Once, after the weights are initialized.
  virtual void start(Replicas&) {}
  // A blocking exchange: move the rows and do the method's step.
  virtual void exchange(const Exchange& exchange, Replicas& replicas) = 0;
  // An overlapped exchange: copy out what is sent; it is used at its await step.
  virtual void post(const Exchange& exchange, Replicas& replicas);
  // What was posted and is not used yet, by replica: a checkpoint holds it beside the arena.
  virtual std::map<int, Message>* in_flight() { return nullptr; }
};

// For a method that the scenario's check has let through.
std::unique_ptr<Update> make_update(const MethodSpec& method);

// The groups of an exchange with members in ascending order, the order in which rows are summed.
std::vector<std::vector<int>> sorted_groups(const Exchange& exchange, int replicas);

}  // namespace longhaul
