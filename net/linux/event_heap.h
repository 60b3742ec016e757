// A heap of which most elements are taken only to be replaced: the place of one that was taken stays open for
// the next one that is added, so that it costs one way through the heap instead of two.
#pragma once

#include <cstddef>
#include <utility>
#include <vector>

namespace longhaul::linux_tcp {

template <typename T>
class EventHeap {
 public:
  bool empty() const { return elements_.size() == (is_open_ ? 1 : 0); }
  // The least one. Not empty.
  const T& top() {
    close();
    return elements_.front();
  }
  T take() {
    close();
    is_open_ = true;
    return elements_.front();
  }
  void add(const T& element) {
    if (is_open_) {
      is_open_ = false;
      sift_down(element);
      return;
    }
    std::size_t at = elements_.size();
    elements_.push_back(element);
    for (; at > 0 && element < elements_[(at - 1) / 2]; at = (at - 1) / 2)
      elements_[at] = elements_[(at - 1) / 2];
    elements_[at] = element;
  }

 private:
  void close() {
    if (!is_open_) return;
    is_open_ = false;
    const T last = elements_.back();
    elements_.pop_back();
    if (!elements_.empty()) sift_down(last);
  }

  // From the top.
  void sift_down(const T& element) {
    std::size_t at = 0;
    for (std::size_t child = 1; child < elements_.size(); child = 2 * at + 1) {
      if (child + 1 < elements_.size() && elements_[child + 1] < elements_[child]) ++child;
      if (!(elements_[child] < element)) break;
      elements_[at] = elements_[child];
      at = child;
    }
    elements_[at] = element;
  }

  std::vector<T> elements_;
  bool is_open_ = false;  // the first one was taken
};

}  // namespace longhaul::linux_tcp
