"""How events lie in the columns that travel: what driver and workers must agree on."""
