"""`python -m console`: the same as the command `trackside`."""

import sys

from console.cli.main import main

if __name__ == "__main__":
    sys.exit(main())
