from tests.support.scripted_resources import model, shelf, waits, write

__all__ = ["model", "shelf", "waits", "write"]
