// NoLoCo (arXiv 2506.10911): H inner steps, then an average within small random groups (pairs) instead of an
// all-reduce, with a modified momentum that pulls the group's slow weights together.
#pragma once

#include "methods/method.h"

namespace longhaul {

Method noloco_method();

}  // namespace longhaul
