"""One file per verb: the only package that prints, reads argv and ends the process.

A verb module offers ``NAME``, ``HELP``, ``add_arguments(parser)`` and ``run(arguments) -> int``.
"""
