// Compiles where LibTorch has the fused attention that trainer/device/torch.h calls.
#define LONGHAUL_FLASH_ATTENTION
#include "trainer/device/torch.h"
