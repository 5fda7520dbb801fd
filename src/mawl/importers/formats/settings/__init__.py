"""What commands print of settings: AIX, Spectrum Scale, Linux and the virtual I/O server."""
