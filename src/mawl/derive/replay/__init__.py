"""A run of derived jobs beside the logs that they were derived from (``mawl compare LOGS-RUN RUN``)."""
