"""`python -m outstep`: the same as the command `outstep`."""

from __future__ import annotations

if __name__ == "__main__":
    from outstep.cli import run

    run()
