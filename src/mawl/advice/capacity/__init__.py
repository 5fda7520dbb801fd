"""Can the system carry the sessions: stretch against jobs alone, and the throughput-per-core gate."""
