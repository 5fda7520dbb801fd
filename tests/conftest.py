"""For all tests: no property test fails because the machine was busy."""

from __future__ import annotations

from hypothesis import settings

settings.register_profile("mawl", deadline=None)
settings.load_profile("mawl")
