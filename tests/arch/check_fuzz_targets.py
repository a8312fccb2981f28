#!/usr/bin/env python3
"""Fails when a reader of core/formats is not fuzzed: every import*() of importers.h and every load*() of the headers below
must be named in tests/fuzz/fuzz_targets.cpp, and every target must have a seed.

    check_fuzz_targets.py [--root DIR]      prints what is missing, exit code 1 if anything is

test_check_fuzz_targets.py shows it trees that it must complain about.
"""

import argparse
import pathlib
import re
import sys

TARGETS = "tests/fuzz/fuzz_targets.cpp"
SEEDS = "tests/fuzz/seeds"
READERS = {
    "core/formats/importers.h": r"\b(import\w+)\s*\(",
    "core/formats/formats.h": r"\b(load\w+)\s*\(const std::string& path",
    "core/formats/groups_csv.h": r"\b(load\w+)\s*\(",
    "core/formats/profile.h": r"\b(load\w+)\s*\(",
}


def code_of(path):
    return re.sub(r"//[^\n]*", "", path.read_text(encoding="utf-8"))


def check_tree(root):
    """(readers, what is missing)"""
    root = pathlib.Path(root)
    code = code_of(root / TARGETS)
    missing, count = [], 0
    for header, pattern in READERS.items():
        readers = re.findall(pattern, code_of(root / header))
        if not readers:
            missing.append(f"{header}: declares no reader: has it moved?")
        count += len(readers)
        missing += [f"{TARGETS}: nothing reads with {reader}() of {header}"
                    for reader in readers if not re.search(rf"\b{reader}\b", code)]
    for target in re.findall(r'^    {"(\w+)"', code, re.MULTILINE):
        folder = root / SEEDS / target
        if not folder.is_dir() or not any(folder.iterdir()):
            missing.append(f"{SEEDS}/{target}: no seed")
    return count, missing


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--root", default=pathlib.Path(__file__).resolve().parents[2])
    count, missing = check_tree(parser.parse_args().root)
    for what in missing:
        print(what)
    print(f"{count} readers, {len(missing)} findings")
    return 1 if missing else 0


if __name__ == "__main__":
    sys.exit(main())
