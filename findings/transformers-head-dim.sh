#!/usr/bin/env bash
# transformers 5.0.0: `head_dim` of DeepSeek V2 and V3 is no head's width.
#
# Every other decoder's `head_dim` is the width of a query, key and value of a head. DeepSeek's is the part of
# it that rotary embeddings turn, 64 of 192; version 5 writes it into config.json. A program that multiplies it by the
# heads counts a third of the queries. The widths are qk_nope_head_dim + qk_rope_head_dim, and v_head_dim.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/venv"
"$folder/venv/bin/pip" install --quiet transformers==5.0.0 2>/dev/null
"$folder/venv/bin/python" - "$folder" <<'PYTHON'
import json, pathlib, sys
from transformers import DeepseekV3Config, Qwen3Config, __version__

folder = pathlib.Path(sys.argv[1])
DeepseekV3Config().save_pretrained(folder)
saved = json.loads((folder / "config.json").read_text())
width = saved["qk_nope_head_dim"] + saved["qk_rope_head_dim"]
print(f"transformers {__version__}: config.json of DeepSeek V3 has head_dim {saved['head_dim']}, "
      f"its queries are {width} wide; of Qwen3 head_dim is {Qwen3Config().head_dim}")
assert __version__ == "5.0.0"
assert saved["head_dim"] == saved["qk_rope_head_dim"] == 64 and width == 192 and Qwen3Config().head_dim == 128
PYTHON
