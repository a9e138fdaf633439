"""``python -m fa4dsl`` is the command line."""

from fa4dsl.cli import main

main()
