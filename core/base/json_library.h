// nlohmann/json as every source of Longhaul includes it.
//
// Test programs have it precompiled (tests/CMakeLists.txt). So it has an include guard and no `#pragma once`,
// and nothing of ours is included here: ccache takes a precompiled header from a state that differs in
// comments alone, and GCC then does not recognize the file that `#pragma once` stands in (ccache 4.7.5,
// GCC 12.2). tests/structure.py holds that.
#ifndef LONGHAUL_CORE_BASE_JSON_LIBRARY_H
#define LONGHAUL_CORE_BASE_JSON_LIBRARY_H

namespace longhaul {

// Throws std::logic_error.
[[noreturn]] void break_off(const char* broken);

}  // namespace longhaul

// In every build: a const Json that is asked for a key that it lacks would else read what is no value.
#define JSON_ASSERT(condition) ((condition) ? static_cast<void>(0) : ::longhaul::break_off(#condition))
#include <nlohmann/json.hpp>

#endif  // LONGHAUL_CORE_BASE_JSON_LIBRARY_H
