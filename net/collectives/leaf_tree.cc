// All-reduce over an unpipelined complete binary tree whose leaves are the members: the tree of the NoLoCo
// paper's latency figure (arXiv 2506.10911, Fig. 5A), in which both children of a node really send.
//
// In level l the node at k covers the members [k · 2^l, (k + 1) · 2^l); a node with nothing on its right is
// its left child. The n − 1 nodes that add are known by the first member on their right, b = 1 … n − 1, and
// live at member (b + 1) mod n: each member has at most one, and none of its children is at the same member,
// so that 2(n − 1) messages of B bytes go up and as many come down. With two members there is no third, and
// one of them receives from the other and returns the sum.
//
// A member sends B as a leaf and up to 3 · B as a node (up, and down to two children).
// Idle star: 2 · ceil(log2 n) · (latency + 2 · B / rate), exact for n = 4, 8, 16, …, otherwise an upper bound
// (n = 2: 2 · (latency + B / rate)). On links of their own the 2 · B are B: with a message time of t and no
// spread 2 · t · log2 n.
//
// In S slices of s bytes the tree is pipelined. Idle star: exact for n = 2, 2 · latency + (S + 1) · s / rate;
// otherwise an upper bound, with D = ceil(log2 n): 2D · latency + (2S + 2D) · 6 s / rate. Proof as in
// tree.cc, with two additions: a leaf hands over all its slices at once, and a node at the same member may
// stand behind them (S slices more, once, because they are all sent from the beginning on); and a parent may
// send two results a slice to one member, on one connection of three.
#include "net/collectives/collective.h"

namespace longhaul {
namespace {

// A node of the tree over n members: a member as a leaf, or the node that adds what is left and right of
// `boundary`.
struct TreeNode {
  int boundary = 0;  // 0: a leaf
  int leaf = 0;
  bool exists = false;
};

int host_of(const TreeNode& node, int n) {
  return node.boundary == 0 ? node.leaf : (node.boundary + 1) % n;
}

// The node that covers [begin, begin + size), size a power of two; nothing there if begin ≥ n.
TreeNode node_over(int begin, int size, int n) {
  if (begin >= n) return {};
  while (size > 1 && begin + size / 2 >= n) size /= 2;
  if (size == 1) return {0, begin, true};
  return {begin + size / 2, 0, true};
}

// How many members are left of the boundary: the lowest bit that is set.
int half_size(int boundary) {
  return boundary & -boundary;
}

// A leaf first: if both live at one member, its message is the earlier one.
struct Children {
  TreeNode first, second;
};

Children children_of(int boundary, int n) {
  const int half = half_size(boundary);
  const TreeNode left = node_over(boundary - half, half, n), right = node_over(boundary, half, n);
  if (right.boundary == 0 && left.boundary != 0) return {right, left};
  return {left, right};
}

// The smallest range above [begin, begin + size) that has members on both sides of its middle.
TreeNode parent_above(int begin, int size, int n) {
  for (; size < n; size *= 2) {
    const int above = begin / (2 * size) * (2 * size);
    if (above + size < n) return {above + size, 0, true};
    begin = above;
  }
  return {};
}

TreeNode parent_of(const TreeNode& node, int n) {
  if (node.boundary == 0) return parent_above(node.leaf, 1, n);
  const int half = half_size(node.boundary);
  return parent_above(node.boundary - half, 2 * half, n);
}

// The adding node that lives at a member, if any.
TreeNode node_at(int member, int n) {
  const int boundary = (member + n - 1) % n;
  return {boundary, 0, boundary > 0};
}

class LeafTree : public Collective {
 public:
  LeafTree()
      : Collective(
            "leaf-tree",
            "all-reduce over an unpipelined binary tree with the members as leaves, whose two children both "
            "send to a third: the tree of the NoLoCo paper's latency figure",
            Unit::kVector, Shape::kTree) {}
  // As a leaf, a member sends first and receives last; as a node it receives from one child, from the other,
  // then goes up and down. Two rounds to receive, because both children may live at one member.
  int rounds(const GroupExchange&) const override { return 4; }

  Round round(const GroupExchange& exchange, int member, int index) const override {
    const int n = exchange.members;
    const TreeNode leaf{0, member, true}, node = node_at(member, n);
    Round round;
    if (index == 0) add(round.sends, exchange, member, host_of(parent_of(leaf, n), n), part_of(leaf, n));
    if (node.exists) add_node(round, exchange, member, node, index);
    if (index == 3) add(round.receives, exchange, member, host_of(parent_of(leaf, n), n), Part::kResult);
    return round;
  }

 private:
  std::int64_t vectors(const GroupExchange& exchange) const override {
    return exchange.members == 2 ? 2 : 4 * (exchange.members - 1);
  }

  // What the first child sends replaces what the node's member has (which it has sent as a leaf), the
  // second one's is added.
  enum class Part { kFirst, kSecond, kResult };

  static Part part_of(const TreeNode& node, int n) {
    const Children siblings = children_of(parent_of(node, n).boundary, n);
    const bool is_first = siblings.first.boundary == node.boundary && siblings.first.leaf == node.leaf;
    return is_first ? Part::kFirst : Part::kSecond;
  }

  // Nothing goes from a member to itself: with two members the left leaf is where the node is.
  static void add(std::vector<Message>& messages, const GroupExchange& exchange, int member, int peer,
                  Part part) {
    if (peer != member) add_message(messages, peer, 0, exchange.bytes, part == Part::kSecond);
  }

  static void add_node(Round& round, const GroupExchange& exchange, int member, const TreeNode& node,
                       int index) {
    const int n = exchange.members;
    const Children children = children_of(node.boundary, n);
    const int number = host_of(children.first, n), other = host_of(children.second, n);
    const TreeNode parent = parent_of(node, n);
    if (index == 0) add(round.receives, exchange, member, number, Part::kFirst);
    if (index == 1) add(round.receives, exchange, member, other, Part::kSecond);
    if (index == 2 && parent.exists) {
      add(round.sends, exchange, member, host_of(parent, n), part_of(node, n));
      add(round.receives, exchange, member, host_of(parent, n), Part::kResult);
    }
    if (index == 3) {
      add(round.sends, exchange, member, number, Part::kResult);
      add(round.sends, exchange, member, other, Part::kResult);
    }
  }
};

}  // namespace

const MakeCollective make_leaf_tree = make_collective<LeafTree>;

}  // namespace longhaul
