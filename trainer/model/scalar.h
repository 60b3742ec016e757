// The number type of the decoder that is written out for the CPU. Trainings compute in float32. The tests
// compile the same sources once more with LONGHAUL_FLOAT64, into a namespace of its own: in float64 a wrong
// gradient cannot hide behind rounding.
#pragma once

#ifdef LONGHAUL_FLOAT64
#define LONGHAUL_PRECISION_BEGIN namespace float64 {
#define LONGHAUL_PRECISION_END }
#else
#define LONGHAUL_PRECISION_BEGIN
#define LONGHAUL_PRECISION_END
#endif

namespace longhaul {
LONGHAUL_PRECISION_BEGIN

#ifdef LONGHAUL_FLOAT64
using Scalar = double;
#else
using Scalar = float;
#endif

LONGHAUL_PRECISION_END
}  // namespace longhaul
