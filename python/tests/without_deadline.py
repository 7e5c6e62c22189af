# SPDX-License-Identifier: MIT OR Apache-2.0
"""Examples of hypothesis have no time limit: other work on the machine must not fail a test."""

try:
    from hypothesis import settings
except ImportError:
    pass  # the tests of clusters have an environment without it
else:
    settings.register_profile("hashloom", deadline=None)
    settings.load_profile("hashloom")
