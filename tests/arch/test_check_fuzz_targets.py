#!/usr/bin/env python3
"""Self-test of check_fuzz_targets.py: a complete tree passes, one thing missing is reported."""

import pathlib
import shutil
import sys
import tempfile
import unittest

import check_fuzz_targets

COMPLETE = {
    "core/formats/importers.h": "Result<GraphPtr> importDot(const Source& source, const LoadOptions& options);\n",
    "core/formats/formats.h": "Result<GraphPtr> loadGraph(const std::string& path, const LoadOptions& options = {});\n"
                              "/// filled in by loadNothing()\nResult<DeviceSet> loadDeviceSet(const std::string& path);\n",
    "core/formats/groups_csv.h": "Result<Groups> loadGroups(const std::string& path);\n",
    "core/formats/profile.h": "Result<Profile> loadProfile(const std::string& path);\n",
    "tests/fuzz/fuzz_targets.cpp": 'const Target kTargets[] = {\n    {"dot", graph(formats::importDot)},\n    {"side", side},\n};\n'
                                   "void side() { loadGraph(p); loadDeviceSet(p); loadGroups(p); loadProfile(p); }\n",
    "tests/fuzz/seeds/dot/a.dot": "digraph {}\n",
    "tests/fuzz/seeds/side/a.csv": "op,us\n",
}

# file, its content instead ("" = the file is not there), what must be complained about
VIOLATIONS = [
    ("core/formats/importers.h", COMPLETE["core/formats/importers.h"] + "Result<GraphPtr> importNew(const Source& source);\n",
     "importNew()"),
    ("core/formats/importers.h", "#pragma once\n", "declares no reader"),
    ("core/formats/formats.h", COMPLETE["core/formats/formats.h"] + "Result<P> loadPlacement(const std::string& path);\n",
     "loadPlacement()"),
    ("core/formats/groups_csv.h", "Result<Groups> loadGroups2(const std::string& path);\n", "loadGroups2()"),
    ("core/formats/profile.h", "Result<Profile> loadTrace(const std::string& path);\n", "loadTrace()"),
    ("tests/fuzz/fuzz_targets.cpp", COMPLETE["tests/fuzz/fuzz_targets.cpp"].replace("loadProfile", "// loadProfile"),
     "loadProfile()"),
    ("tests/fuzz/seeds/dot/a.dot", "", "seeds/dot: no seed"),
]


class CheckFuzzTargets(unittest.TestCase):
    def setUp(self):
        self.root = pathlib.Path(tempfile.mkdtemp(prefix="pw-fuzz-"))
        self.addCleanup(shutil.rmtree, self.root)
        for path, content in COMPLETE.items():
            self.write(path, content)

    def write(self, path, content):
        file = self.root / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(content, encoding="utf-8")

    def test_complete_tree_passes(self):
        self.assertEqual((5, []), check_fuzz_targets.check_tree(self.root))

    def test_what_is_missing_is_reported(self):
        for path, content, what in VIOLATIONS:
            with self.subTest(path=path, what=what):
                if content:
                    self.write(path, content)
                else:
                    (self.root / path).unlink()
                _, missing = check_fuzz_targets.check_tree(self.root)
                self.assertEqual(1, len(missing), missing)
                self.assertIn(what, missing[0])
                self.write(path, COMPLETE[path])


if __name__ == "__main__":
    sys.exit(unittest.main())
