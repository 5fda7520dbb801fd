"""A module that is heavy once imported: 300 MB that a zygote then holds."""

BALLAST_BYTES = 300 * 10**6
BALLAST = bytearray(BALLAST_BYTES)
for position in range(0, BALLAST_BYTES, 4096):
    BALLAST[position] = 1
