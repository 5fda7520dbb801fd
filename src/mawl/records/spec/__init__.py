"""What a run is asked to be: ``RunSpec``, its options, and the places they come
from."""
