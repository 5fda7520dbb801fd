"""Can the system carry the sessions: answers for compute and storage, and the guideline."""
