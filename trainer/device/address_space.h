// Whether the shell leaves this process the address space that LibTorch's libraries take (ulimit -v). Throws
// RunError where it does not; a program with LibTorch linked in ends with status 1 before it begins.
#pragma once

namespace longhaul {

void check_address_space();

}  // namespace longhaul
