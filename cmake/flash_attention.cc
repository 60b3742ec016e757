// Compiles where LibTorch has the fused attention that trainer/device/flash_attention.h calls.
#define LONGHAUL_FLASH_ATTENTION
#include "trainer/device/flash_attention.h"
