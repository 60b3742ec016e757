// A communication library as users run it on top of TCP: which algorithm it takes for an operation of so many
// bytes and members, into what it cuts the messages, what each of them waits for, and what it costs a host.
//
// Each library is one file of net/libraries/, which defines NAME_library(); CMake lists the files
// (cmake/Libraries.cmake). docs/libraries.md has them all, with what was measured of each.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "core/plan/operations.h"
#include "core/scenario/case.h"
#include "net/collectives/collective.h"

namespace longhaul {

// When the data of a message leaves its sender.
enum class MessageStart {
  kBothReady,   // as soon as both ends are in the exchange; that costs nothing (library "plain")
  kAtOnce,      // when the sender has it: the receiver's buffers hold it
  kAnnounced,   // when the receiver's announcement of this message has come
  kRendezvous,  // when the receiver has answered the sender's request, above `eager_bytes`
};

// How the messages of an operation travel. A member's program is a list of steps, round by round and within a
// round slice by slice; a step is posted, and is over when all that it receives has come and all that it
// sends is in the hands of the kernel.
struct MessageRules {
  MessageStart start = MessageStart::kBothReady;
  // Steps under way at a time: step q is posted when all up to q − posted are over. 0: all at once.
  int posted = 1;
  // A step also waits until its own sends have left. Else they are awaited at the end of the operation.
  bool awaits_sends = true;
  // Rounds after which nothing is under way any more before the next one is posted; 0: only at the end.
  int drained_rounds = 0;
  std::int64_t eager_bytes = 0;  // of kRendezvous: messages to so many bytes leave at once
  std::int64_t ahead_bytes = 0;  // of kRendezvous: what of a larger message travels with its request
  // Of kRendezvous: a message that was asked for is over for its sender when its receiver has said so.
  bool awaits_receipts = false;
  // A connection is made by the first message of a pair, in two round trips, and only once in a run. Where
  // both have one at a time, the connection of the lower replica stays.
  bool opens_late = false;
  int wire_factor = 1;  // bytes on the wire for each of the payload: 2 where every word has a flag beside it
  // Numbers are not cut: of a vector with fewer numbers than it has parts some parts are empty, and nothing
  // is sent of them. Bytes of a number; 1: bytes are cut.
  std::int64_t number_bytes = 1;
  // On the wire besides the payload: with each message, and of each announcement, request or answer.
  std::int64_t header_bytes = 0, note_bytes = 0;
  // From the arrival of the last thing that a step waits for until the program goes on: a thread of its own
  // is woken. What answers an announcement or a request is sent at once, by the thread that reads the
  // sockets.
  double wake_s = 0;
  double operation_s = 0;  // from the call of an operation to its first message
};

// What an operation becomes.
struct Lowering {
  const Collective* collective = nullptr;
  int slices = 1;           // into which each message is cut
  int loops = 1;            // equal parts of the vector, which go through the whole collective one by one
  MessageRules rules = {};  // of a plain one only `start` counts
};

// What is asked of a library. `collective`: by name, or kLibraryChoice.
struct LibraryCall {
  OperationKind kind = OperationKind::kAllReduce;
  std::string collective;
  const GroupExchange& exchange;
};

struct Library {
  std::string name;     // as in network.library
  std::string about;    // one line for `longhaul list libraries`
  std::string version;  // of which it was measured or read
  // TCP connections between two hosts, where the scenario does not say.
  int connections = 1;
  // None: plain, whose messages follow network.slice, eager and barrier.
  Lowering (*lower)(const LibraryCall& call) = nullptr;
  // How far predicted times were from the library's own, at the 95th percentile; 1: not known, so that claims
  // stay undecided.
  double residual = 1;
  // Operations of one group under way at a time, where several are handed over together.
  int at_a_time = 1;
  // What a method's `tensors` is where the scenario does not say (methods/common/tensors.h); of all methods
  // but ddp.
  std::string tensors = "flat";

  bool is_plain() const { return lower == nullptr; }
};

// The value of `all_reduce` that leaves the algorithm to the library. Library plain takes a ring.
inline const std::string kLibraryChoice = "library";

// All libraries, plain first, then by name.
const std::vector<Library>& libraries();
std::vector<std::string> library_names();

// Throws InputError at network.library naming the nearest one.
const Library& library_named(const std::string& name);

// The program and the rules of one operation in the network of a case. Throws InputError for a collective
// that does not exist.
Lowering lowered(const NetworkSpec& network, const OperationRule& rule, const GroupExchange& exchange);

// The collective of lowered(), where nothing else of it counts.
const Collective& collective_of(const NetworkSpec& network, const OperationRule& rule,
                                const GroupExchange& exchange);

// Transfers that an operation hands to the network, notes included.
std::int64_t transfers_of(const Lowering& lowering, const GroupExchange& exchange);

// The part of the exchange that goes through the collective in loop 0 … loops − 1.
GroupExchange part_of_loop(const GroupExchange& exchange, int loop, int loops);

// For libraries: the collective that was asked for, else this one.
const Collective& asked_or(const LibraryCall& call, const Collective& choice);

}  // namespace longhaul
