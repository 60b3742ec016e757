// Compiles where LibTorch has the products of bf16 in float32 that trainer/device/torch.h calls.
#define LONGHAUL_WIDE_PRODUCTS
#include "trainer/device/torch.h"
