"""Measurements, printed as JSON lines. They fail no build; read the ratios to the baseline rather than the values."""
