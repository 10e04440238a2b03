"""`python -m partita`: the command, for an interpreter whose scripts are not on the path."""

import sys

from partita.cli import main

sys.exit(main())
