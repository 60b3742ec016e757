// torchft 0.2.0 over Gloo: its ProcessGroupGloo hands every collective to torch's, so that messages are
// Gloo's (net/libraries/gloo.cc). The average is a sum and a division by the number of participants.
#include "net/libraries/gloo.h"

namespace longhaul {

Library torchft_library() {
  return {"torchft", "torchft's process groups over Gloo: Gloo's messages", "0.2.0 with torch 2.15.0", 1,
          gloo_lowering};
}

}  // namespace longhaul
