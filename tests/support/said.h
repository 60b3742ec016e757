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

// Path and finding of its InputError, as "PATH: FOUND"; "" where it throws none.
template <typename Call>
std::string refused_with(const Call& call) {
  try {
    call();
  } catch (const InputError& error) {
    return error.parts().path + ": " + error.parts().found;
  }
  return "";
}

// The path of its InputError; "" where it throws none.
template <typename Call>
std::string refused_path(const Call& call) {
  try {
    call();
  } catch (const InputError& error) {
    return error.parts().path;
  }
  return "";
}

}  // namespace longhaul
