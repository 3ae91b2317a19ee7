"""A soak: hosts that share a database do everything at random, some are killed, and then the database is checked."""
