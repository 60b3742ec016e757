// torchft 0.2.0 over Gloo: its ProcessGroupGloo hands every collective to torch's, so that messages are
// Gloo's (net/libraries/gloo.cc), and two operations are under way at a time. The average is a sum and a
// division by the number of participants. LocalSGD and DiLoCo begin an all-reduce for every parameter tensor
// and then wait for all of them (torchft/local_sgd.py; DiLoCo's use_bucketization is off unless asked for).
#include "net/libraries/gloo.h"

namespace longhaul {

Library torchft_library() {
  Library torchft = gloo_library();
  torchft.name = "torchft";
  torchft.about = "torchft's process groups over Gloo: Gloo's messages, an operation for every tensor";
  torchft.version = "0.2.0 with torch 2.15.0";
  torchft.residual = 1;
  torchft.tensors = "together";
  return torchft;
}

}  // namespace longhaul
