// The tokenizer beside an exported model, so that transformers' AutoTokenizer finds it.
#pragma once

#include <string>

namespace longhaul {

// Writes tokenizer.json and tokenizer_config.json into `out`: for shards the tokenizer.json beside the first
// of them (where `python -m longhaul.shards` puts it), for texts and corpora one whose tokens are the bytes.
// Writes nothing where `case_file` does not exist, the shards have no tokenizer beside them or the data is
// synthetic. Throws InputError for a damaged case, RunError where `out` cannot be written.
void write_tokenizer(const std::string& case_file, const std::string& out);

}  // namespace longhaul
