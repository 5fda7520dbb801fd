"""What a run is asked to be: :class:`~mawl.spec.record.RunSpec`, its options, and the places they come
from."""
