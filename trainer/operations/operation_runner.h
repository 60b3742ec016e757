// Carries out the operations of a plan on the host: makes the messages, brings them to the other processes,
// and lets the update take its step on what arrived.
//
//   post(operation)    its payload is packed (codec, error feedback) where it is not awaited at once
//   apply(operation)   the step of each group's members that are held here
#pragma once

#include <map>
#include <string>
#include <vector>

#include "trainer/codecs/reduction.h"
#include "trainer/operations/posted_messages.h"
#include "trainer/operations/update.h"
#include "trainer/ranks/ranks.h"
#include "trainer/replicas/arena.h"

namespace longhaul {

class OperationRunner {
 public:
  OperationRunner(const Update& update, Replicas& replicas)
      : update_(update), replicas_(replicas), posted_(replicas) {}

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

  const Update& update() const { return update_; }
  PostedMessages& posted() { return posted_; }
  const PostedMessages& posted() const { return posted_; }

 private:
  void begin_log(const Operation& operation);
  void log_elsewhere(const Operation& operation, const GroupSplit& group);
  void log_shards(const Operation& operation, const GroupSplit& group, int members);

  std::int64_t sent_bytes(const PayloadPart& part) const;  // of a message on the wire
  Message make_message(const Operation& operation, const PayloadPart& part, int replica);  // a view
  float* error_of(const PayloadPart& part, int replica);  // null where nothing is fed back
  // Of what a member, held here or not, sent or sends for the operation.
  PayloadPart part_of(const Operation& operation, const std::string& tensor, int replica) const;
  Message message_of(const Operation& operation, const std::string& tensor, int replica);
  // By replica; `here` are those of the members that this process holds.
  std::map<int, Message> from_elsewhere(const Operation& operation, const std::string& tensor,
                                        const GroupSplit& group, const std::map<int, Message>& here);
  bool counts_senders(const Message& message_here) const;
  static const Codec* rounding_of_mean(const Operation& operation, const std::string& tensor);
  ContributionsOf contributions_over_ranks(const std::vector<Message>& mine);
  std::vector<float> whole_mean(const Operation& operation, const std::string& tensor,
                                const std::vector<const Message*>& heard, const std::vector<Message>& mine);
  void step(const Operation& operation, const std::vector<int>& group, const GroupSplit& parts);
  const float* add_up(const Message& own, int replica, std::int64_t begin, std::int64_t end,
                      const float* mean);
  void pass_on(const Operation& operation, const std::vector<int>& group, const GroupSplit& parts);

  const Update& update_;
  Replicas& replicas_;
  PostedMessages posted_;
};

}  // namespace longhaul
