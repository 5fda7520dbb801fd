"""A run of derived jobs compared with the logs behind them (``mawl compare LOGS-RUN RUN``)."""
