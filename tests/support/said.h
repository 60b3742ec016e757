// What a call that is to be refused throws, and what texts say.
#pragma once

#include <gtest/gtest.h>

#include <stdexcept>
#include <string>

#include "core/base/errors.h"

// `words` stand in `text`; a failure shows both.
#define EXPECT_SAYS(text, words) EXPECT_PRED_FORMAT2(testing::IsSubstring, words, text)

namespace longhaul {

// The error that `call` throws; the test fails where it throws none.
template <typename Error = InputError, typename Call>
Error thrown_by(const Call& call) {
  try {
    call();
  } catch (const Error& error) {
    return error;
  }
  throw std::logic_error("nothing was refused");
}

// Its words; "" where it throws none.
template <typename Call>
std::string said_by(const Call& call) {
  try {
    call();
  } catch (const InputError& error) {
    return error.what();
  } catch (const RunError& error) {
    return error.what();
  }
  return "";
}

// What its InputError says; nothing where it throws none.
template <typename Call>
InputErrorParts refused_parts(const Call& call) {
  try {
    call();
  } catch (const InputError& error) {
    return error.parts();
  }
  return {};
}

// The path of that, or with what was found: "PATH: FOUND".
template <typename Call>
std::string refused_path(const Call& call) {
  return refused_parts(call).path;
}
template <typename Call>
std::string refused_with(const Call& call) {
  const InputErrorParts parts = refused_parts(call);
  return parts.found.empty() ? "" : parts.path + ": " + parts.found;
}

}  // namespace longhaul
