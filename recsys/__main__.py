"""`python -m recsys`."""

import sys

from recsys.cli.main import main

if __name__ == "__main__":
    sys.exit(main())
