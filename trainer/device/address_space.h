// Whether the shell leaves this process the address space that LibTorch's libraries take (ulimit -v). If not
// the process says so and ends with status 1.
#pragma once

namespace longhaul {

void check_address_space();

}  // namespace longhaul
