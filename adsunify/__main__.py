"""``python -m adsunify`` is the command line."""

from .cli import main

main()
