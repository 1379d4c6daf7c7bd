"""`python -m outstep`: the same as the command `outstep`."""

from __future__ import annotations

import sys

if __name__ == "__main__":
    from outstep.cli import main

    sys.exit(main())
