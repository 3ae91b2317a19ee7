"""Mutants: faults of one line, each with the test that must catch it. They check the tests themselves."""
