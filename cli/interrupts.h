// Ctrl-C in longhaul itself: the first is forwarded to the children, the second kills them.
#pragma once

namespace longhaul {

void count_interrupts();  // installs the handlers of SIGINT and SIGTERM
int interrupts_so_far();

}  // namespace longhaul
