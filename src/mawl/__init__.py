"""mawl (Mixed Analytics WorkLoad): can this system carry an analytics shop's mixed load?"""

__version__ = "0.1.0"
