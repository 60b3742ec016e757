// A collective: how one exchange among a group is lowered to transfers.
//
// A collective is a program of rounds for each member, worked out when asked for: an all-reduce among 1024
// replicas has two million transfers and none of them is stored. In a round a member hands all its messages
// to the network and enters the next round when everything that it must receive has arrived; sends do not
// block, unless the collective says that a round ends only when the member's own messages have arrived too,
// or that a message waits until its receiver is in the same round (both together: a blocking send-receive).
//
// Members are numbered in the order of the group. A contribution is one vector of `bytes`; messages say which
// part of it they carry, so that a test can follow the data.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

namespace longhaul {

struct GroupExchange {
  int members = 0;                // n, at least 2
  std::int64_t bytes = 0;         // B, what each member contributes
  int tensors = 1;                // that the contribution consists of, of equal size
  std::vector<int> site_of = {};  // the site of each member; empty where the topology has no sites
  // Where members send to some alone: by member to whom, and who sends to it. Else empty.
  std::vector<std::vector<int>> targets = {}, senders = {};
  // Of an all-to-all: bytes from member i to j, [i · n + j]; empty: part j of n equal ones of B each.
  std::vector<std::int64_t> parts = {};
};

struct Message {
  int peer = 0;  // member to send to, or to receive from
  std::int64_t offset = 0, bytes = 0;
  bool reduces = false;  // the receiver adds it to what it has; else it replaces that
};

struct Round {
  std::vector<Message> sends, receives;  // never of 0 bytes
};

// With one message to or from each member, of all bytes and the first one's offset.
Round joined(const Round& round);

struct Totals {
  std::int64_t transfers = 0;
  std::int64_t bytes = 0;  // of all members, payload
};

class Collective {
 public:
  // What it is for. kAverage: the average of a small group, in messages between its members. kLibrary: an
  // all-reduce that one library takes, and kEstimate: the coarse form of one, which a method cannot ask for.
  enum class Purpose {
    kAllReduce,
    kAverage,
    kSend,
    kAllGather,
    kReduceScatter,
    kAllToAll,
    kLibrary,
    kEstimate
  };
  // The same pipeline with fewer and larger pieces.
  struct CoarseForm {
    std::string name;
    int pieces = 0;
  };
  // How whole units travel: chunks from neighbour to neighbour, or the vector along a tree.
  enum class Shape { kOther, kRing, kTree };
  // What all messages carry whole where the program may be cut into slices (net/collectives/slices.h), so
  // that slice k of one depends on slices k alone: the vector, or one of n chunks of it.
  enum class Unit { kNone, kVector, kChunk };

  // `about`: one line for longhaul list collectives.
  Collective(std::string name, std::string about, Unit unit = Unit::kNone, Shape shape = Shape::kOther,
             Purpose purpose = Purpose::kAllReduce)
      : name_(std::move(name)), about_(std::move(about)), unit_(unit), shape_(shape), purpose_(purpose) {}
  virtual ~Collective() = default;

  const std::string& name() const { return name_; }
  const std::string& about() const { return about_; }
  virtual int rounds(const GroupExchange& exchange) const = 0;
  // `index` is 0 … rounds − 1. Messages from one member to another arrive in the order of the rounds.
  virtual Round round(const GroupExchange& exchange, int member, int index) const = 0;
  virtual bool awaits_delivery() const { return false; }
  // A message travels when its receiver has come to the sender's round too: then what a receiver is busy with
  // is not slowed down by members that are ahead of it. Only where sends and receives have the same rounds.
  virtual bool awaits_receiver() const { return false; }
  // The parts that go from one member to another in a round are one message (joined()).
  virtual bool joins_parts() const { return false; }
  virtual bool needs_sites() const { return false; }  // only on a topology that has sites
  Purpose purpose() const { return purpose_; }
  virtual Shape shape(int /*members*/) const { return shape_; }
  virtual Totals totals(const GroupExchange& exchange) const;  // the sum over all rounds
  // Of a pipeline of pieces: of how many. 0: it is none.
  virtual int pieces(const GroupExchange&) const { return 0; }
  // What is replayed in place of a pipeline of many pieces to estimate its time, the fewest pieces first.
  virtual std::vector<CoarseForm> coarse_forms() const { return {}; }
  // Bytes of the largest message where the program may be cut into slices; 0: it may not.
  virtual std::int64_t unit_bytes(const GroupExchange& exchange) const;

 private:
  // Messages of all members, where each carries the vector.
  virtual std::int64_t vectors(const GroupExchange&) const { return 0; }

  std::string name_, about_;
  Unit unit_;
  Shape shape_;
  Purpose purpose_;
};

// How one is made: each is defined in the file of its name, or of its family's.
using MakeCollective = std::unique_ptr<Collective> (*)();
extern const MakeCollective make_ring, make_tree, make_leaf_tree, make_heap_tree, make_double_tree,
    make_double_tree_8, make_double_tree_16, make_halving_doubling, make_halving_doubling_far,
    make_halving_doubling_halves, make_recursive_doubling, make_direct, make_parameter_server,
    make_hierarchical, make_pair_average, make_root, make_serial_pair, make_all_gather,
    make_all_gather_doubling, make_reduce_scatter, make_reduce_scatter_halving, make_reduce_scatter_pairwise,
    make_reduce_scatter_root, make_send, make_pairwise, make_bruck;

template <typename Kind>
std::unique_ptr<Collective> make_collective() {
  return std::make_unique<Kind>();
}

// An exchange among these replicas; `site_of_replica` may be empty. `targets`: of an operation whose replicas
// send to targets (core/plan/operations.h), of all replicas, which then are the group in their order; `parts`
// of one that is an all-to-all, likewise.
GroupExchange group_exchange(const std::vector<int>& group, std::int64_t bytes, std::size_t tensors,
                             const std::vector<int>& site_of_replica,
                             const std::vector<std::vector<int>>& targets = {},
                             const std::vector<std::int64_t>& parts = {});

// The largest of `parts` parts.
std::int64_t largest_part(std::int64_t bytes, std::int64_t parts);

// Where part `index` of `parts` equal ones begins: floor(index · bytes / parts).
std::int64_t part_begin(std::int64_t bytes, std::int64_t index, std::int64_t parts);

// Appends the message that carries bytes [begin, end), unless that is nothing.
void add_message(std::vector<Message>& messages, int peer, std::int64_t begin, std::int64_t end,
                 bool reduces);

// The same with part `index` of `parts` equal ones of `bytes`.
void add_part(std::vector<Message>& messages, int peer, std::int64_t bytes, std::int64_t index,
              std::int64_t parts, bool reduces);

// Of an all-to-all: what member `from` has for member `to`, in a vector of the contributions side by side.
struct Part {
  std::int64_t begin = 0, bytes = 0;
};
Part part_between(const GroupExchange& exchange, int from, int to);
// Appends the message that carries it, unless it is empty.
void add_part_between(std::vector<Message>& messages, const GroupExchange& exchange, int peer, int from,
                      int to);

int floor_log2(int n);
int ceil_log2(int n);

// All collectives, by the names that a scenario and a trace use.
const std::vector<std::unique_ptr<Collective>>& collectives();

// Throws InputError naming the nearest one if no collective has that name.
const Collective& find_collective(const std::string& name);

}  // namespace longhaul
