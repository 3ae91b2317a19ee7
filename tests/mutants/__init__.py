"""Faults of one line, each with the test that must catch it: what the tests say about the engine is checked here."""
