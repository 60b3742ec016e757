// Compiles where LibTorch has the fused attention that trainer/model/torch_versions.h calls.
#define LONGHAUL_FLASH_ATTENTION
#include "trainer/model/torch_versions.h"
