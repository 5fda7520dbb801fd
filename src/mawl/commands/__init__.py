"""One file per verb: the only package that prints, reads argv and ends the process.

A verb's module names it in ``VERBS``, with the record of its arguments and the function that runs it.
"""
