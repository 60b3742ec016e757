// The packets on a wire, in the order of their arrival, in blocks of memory that live as long as a packet is
// in them.
//
// One thread may add while another one takes: what was added can be taken after publish(), which neither does
// at the same time.
#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <utility>

#include "net/linux/packet.h"

namespace longhaul::linux_tcp {

class PacketQueue {
 public:
  PacketQueue() = default;
  ~PacketQueue() {
    while (first_) delete std::exchange(first_, first_->next);
    delete spare_.load();
  }
  PacketQueue(const PacketQueue&) = delete;
  PacketQueue& operator=(const PacketQueue&) = delete;

  // Of those that were published.
  bool empty() const { return published_ == 0; }
  std::size_t size() const { return published_ + unpublished_; }  // while nobody adds
  const Packet& front() const { return first_->packets[taken_]; }
  void pop_front() {
    ++taken_;
    if (--published_ > 0) leave_block();
  }

  // Whether it is the first one since publish().
  bool push_back(const Packet& packet) {
    if (added_ == kBlock) add_block();
    last_->packets[added_++] = packet;
    return ++unpublished_ == 1;
  }
  void publish() {
    published_ += std::exchange(unpublished_, 0);
    if (published_ > 0) leave_block();
  }

 private:
  static constexpr std::size_t kBlock = 32;
  struct Block {
    std::array<Packet, kBlock> packets;
    Block* next = nullptr;
  };

  // Of which all were taken, if there is another one: the last one may still be added to.
  void leave_block() {
    if (taken_ < kBlock) return;
    taken_ = 0;
    Block* next = first_->next;
    delete spare_.exchange(std::exchange(first_, next), std::memory_order_acq_rel);
  }
  void add_block() {
    Block* block = spare_.exchange(nullptr, std::memory_order_acq_rel);
    if (block)
      block->next = nullptr;
    else
      block = new Block;
    (last_ ? last_->next : first_) = block;
    last_ = block;
    added_ = 0;
  }

  std::atomic<Block*> spare_{nullptr};  // an empty one, to be used again
  // Of the thread that takes.
  Block* first_ = nullptr;
  std::size_t taken_ = 0;  // of the first block
  std::size_t published_ = 0;
  // Of the thread that adds, on a line of the cache of their own.
  alignas(64) Block* last_ = nullptr;
  std::size_t added_ = kBlock;  // to the last block
  std::size_t unpublished_ = 0;
};

}  // namespace longhaul::linux_tcp
