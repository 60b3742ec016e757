// Compiles where LibTorch has the fused attention that trainer/device/torch_versions.h calls.
#define LONGHAUL_FLASH_ATTENTION
#include "trainer/device/torch_versions.h"
