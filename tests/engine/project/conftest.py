from tests.support.plugin_folders import plugins
from tests.support.scripted_resources import model, shelf, waits, write

__all__ = ["model", "plugins", "shelf", "waits", "write"]
