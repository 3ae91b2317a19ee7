"""Length of the random tests: short in `make test`, long in `make test-long`."""

import os
from typing import Final

IS_LONG: Final = os.environ.get("TRACKSIDE_TEST_PROFILE") == "long"
