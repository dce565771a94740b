"""python scripts/translate.py "I am a student" """

import sys

from translator.cli import main

sys.exit(main(["translate", *sys.argv[1:]]))
