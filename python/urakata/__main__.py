"""`python -m urakata`: the same as the command urakata."""

from urakata.cli import main

if __name__ == "__main__":
    main()
