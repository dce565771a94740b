"""`python -m translator` is the command `translator`."""

import sys

from translator.cli import main

sys.exit(main())
