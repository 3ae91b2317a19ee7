from tests.support.scripted_resources import load_set, model, sleeps, write

__all__ = ["load_set", "model", "sleeps", "write"]
