// A model named as people name it: a preset, a repository's name, or a config.json of transformers.
#pragma once

#include <string>

#include "core/base/json.h"

namespace longhaul {

// The dimensions that a config.json of transformers (version 4 or 5) says, as a section `model` of a
// scenario. What it says of vision is left out, and so are layers that predict a second token. The context is
// that of the pre-training where it stands there, else what the model takes, at most 8192 tokens. Throws
// InputError at keys of `config`: a model_type that is not known, or a form whose parameters are not counted.
Json model_of_config(const Json& config);

// Makes `section["model"]`, where it is a text, the name of a preset, or the dimensions of a config.json (or
// of a folder that has one) below `folder`. Throws InputError at `path`.
void expand_model(Json& section, const std::string& folder, const std::string& path);

}  // namespace longhaul
