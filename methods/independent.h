// Independent replicas: no exchange at all, the zero-communication bound.
#pragma once

#include "methods/method.h"

namespace longhaul {

Method independent_method();

}  // namespace longhaul
