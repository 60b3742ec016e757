// Loops over rows are compiled for the newer vector units too, and the machine picks when the program starts:
// one binary for all machines, at the speed of each. Not under a sanitizer, which is not yet running at that
// moment.
//
// By levels of the instruction set: names of processors ("arch=haswell") match that maker's own alone, and
// any other machine would get the slow version.
#pragma once

#if defined(__x86_64__) && defined(__GNUC__) && !defined(__clang__) && !defined(__SANITIZE_ADDRESS__)
#define LONGHAUL_VECTORIZED __attribute__((target_clones("arch=x86-64-v4", "arch=x86-64-v3", "default")))
#else
#define LONGHAUL_VECTORIZED
#endif
