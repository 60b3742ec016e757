// How fast a core of this machine multiplies: what an estimate of a training's time rests on.
#pragma once

namespace longhaul {

// float32 operations a second of one core, with the widest vectors that it has. Takes some milliseconds of
// processor time; other work on the machine hardly changes it.
double core_flops();

// What a training takes here, of what it takes on a core of kReferenceFlops.
double training_pace();

}  // namespace longhaul
