// The BLAS below LibTorch. Replicas already fill the processor with a task each, so its own threads only
// fight with them (measured: three times slower), and they are switched off.
#pragma once

#include <string>

namespace longhaul {

// Process-wide; does nothing where the BLAS is not OpenBLAS.
void use_one_blas_thread();

// "OpenBLAS 0.3.21 …", or "unknown" where the BLAS cannot be asked.
std::string blas_name();

}  // namespace longhaul
