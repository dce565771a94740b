"""python scripts/fetch_data.py --out data/public"""

import sys

from translator.cli import main

sys.exit(main(["fetch", *sys.argv[1:]]))
