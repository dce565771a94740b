"""python scripts/train.py --config configs/tiny.yaml"""

import sys

from translator.cli import main

sys.exit(main(["train", *sys.argv[1:]]))
