// All-reduce data parallel training: every step each replica's gradient becomes the mean of all gradients,
// and every replica takes the same optimizer step (FSDP in the NoLoCo paper's tables is, in its authors'
// code, this).
#pragma once

#include "trainer/replicas/message.h"
#include "trainer/updates/update.h"

namespace longhaul {

// rows[i] ← mean of the messages, over columns [begin, end).
void average_rows(const std::vector<Message>& messages, const std::vector<float*>& rows, std::int64_t begin,
                  std::int64_t end);

std::unique_ptr<Update> make_ddp_update();

}  // namespace longhaul
