"""A run on another system, what to buy, where the roles should live, and forecasts of the papers' systems."""
