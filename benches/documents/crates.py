"""Copies READMEs and change logs of the crates that Cairn is built from: crates.py REPOSITORY TARGET"""

import json
import pathlib
import subprocess
import sys

repository, target = sys.argv[1:]
metadata = subprocess.run(["cargo", "metadata", "--format-version", "1", "--locked", "--manifest-path",
                           f"{repository}/Cargo.toml"], check=True, capture_output=True).stdout
target = pathlib.Path(target)
target.mkdir(parents=True, exist_ok=True)
taken = set()
for package in json.loads(metadata)["packages"]:
    folder = pathlib.Path(package["manifest_path"]).parent
    if package["source"] is None or package["name"] in taken:
        continue
    taken.add(package["name"])
    for kind in ("README", "CHANGELOG"):
        for file in sorted(folder.glob(f"{kind}*.md"))[:1]:
            text = file.read_text(errors="replace")
            (target / f"{package['name']}-{kind}.md").write_text(text)
