"""Tests of the console for authors of runners: a driver, a fixed clock, and the pytest fixture `trackside_console`."""
