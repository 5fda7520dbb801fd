"""Tables on disk: Arrow IPC files moved in requests of ``bufsize`` bytes, and their checksums."""
