"""Measurements, one JSON line each. Nothing here passes or fails a build: read the ratios, not the numbers."""
