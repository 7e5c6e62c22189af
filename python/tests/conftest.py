# SPDX-License-Identifier: MIT OR Apache-2.0
"""For all tests here."""

import without_deadline  # noqa: F401
