# SPDX-License-Identifier: MIT OR Apache-2.0
"""For all tests here. What they share with those of pyhashloom is in python/tests."""

import sys
from pathlib import Path

sys.path.append(str(Path(__file__).parents[2] / "tests"))
import without_deadline  # noqa: E402,F401
