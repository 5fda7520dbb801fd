"""What a shell needs of the command line: completion scripts and the manual page, printed from the parser."""
