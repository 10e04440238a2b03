"""`python -m partita`: the command `partita`."""

import sys

from partita.cli import main

sys.exit(main())
