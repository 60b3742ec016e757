// No library: the rounds of a collective as they are, what studies of the network alone take. Messages are
// cut as network.slice says, and follow network.eager and network.barrier.
#include "net/library.h"

namespace longhaul {

Library plain_library() {
  return {"plain", "the rounds of a collective as they are: slice, eager and barrier say how they travel",
          "none"};
}

}  // namespace longhaul
