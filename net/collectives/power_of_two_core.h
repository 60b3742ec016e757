// The members that are left once the surplus over a power of two is folded in, numbered 0 … 2^levels − 1. The
// first 2 · surplus members are pairs of neighbours: one of each is folded in, the other serves it.
#pragma once

#include "net/collectives/collective.h"

namespace longhaul {

struct PowerOfTwoCore {
  int levels, size, surplus;

  explicit PowerOfTwoCore(int members)
      : levels(floor_log2(members)), size(1 << levels), surplus(members - size) {}
  // MPICH's choice: the even member is folded into the odd one.
  bool folds(int member) const { return member < 2 * surplus && member % 2 == 0; }
  bool serves(int member) const { return member < 2 * surplus && member % 2 == 1; }
  int number_of(int member) const { return member < 2 * surplus ? member / 2 : member - surplus; }
  int member_of(int number) const { return number < surplus ? 2 * number + 1 : number + surplus; }
  // Where the even one stays.
  int even_member_of(int number) const { return number < surplus ? 2 * number : number + surplus; }
};

}  // namespace longhaul
