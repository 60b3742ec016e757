// Which replicas are there, and what all who have to do with them are told.
#pragma once

#include <vector>

#include "replay/work/attendance.h"

namespace longhaul {

// What becomes of a replica, for those who have to do with it.
class PresenceListener {
 public:
  virtual ~PresenceListener() = default;

  // It is gone, and what it has under way is lost. The others do not know.
  virtual void on_crash(int) {}
  // The same of one that only listened.
  virtual void on_listener_crash(int) {}
  // They know.
  virtual void on_failure_detected(int) {}
  // It is back, and gets the results of operations from this step on; it contributes nothing yet. Answers
  // with the first step whose operations all take it in, which is a later one where some have begun.
  virtual int on_listening(int, int first_step) { return first_step; }
  // It has downloaded its state: it is ready for what it listens to.
  virtual void on_state_arrived(int) {}

  enum class Return {
    kListener,  // it has listened until now
    kMember,    // it has not, and joins operations that are open already
    kApart,     // it takes part in what is made from now on
  };
  // It is back and begins with this step, with its own state or another's.
  virtual void on_return(int, int, Return, bool) {}
  // It is back where all have waited for it, and repeats this step.
  virtual void on_resume(int, int) {}
};

// All replicas are there for the whole run; absence/churn.h is the other one.
class Presence {
 public:
  virtual ~Presence() = default;

  // Whether replicas may be gone.
  virtual bool changes() const { return false; }
  // Training begins. The listeners are told in this order; they must outlive what is told.
  virtual void start(std::vector<PresenceListener*>) {}
  // A worker has ended the step that it was at.
  virtual void ended_step(int) {}
  // A worker has the result of the operation of this rule that is posted at this step.
  virtual void has_result(int, int, int) {}
  // Of the operations of a step, which are made now; only where presence changes.
  virtual Attendance attendance(int) const { return {}; }
  // Whether a replica that has its state listens to the operations of a step.
  virtual bool is_ready_listener(int, int) const { return false; }
  // Replicas that are gone before their last step is over; and how long one has been gone, s.
  virtual int gone() const { return 0; }
  virtual double gone_s(int) const { return 0; }
  // Whether a replica that is back repeats its step, for which all have waited.
  virtual bool repeats_steps() const { return false; }
  // The replay is over: rows of those who have not come back.
  virtual void finish() {}
};

}  // namespace longhaul
