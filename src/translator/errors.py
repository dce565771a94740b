"""The one kind of error that is the user's to mend."""


class UserError(Exception):
    """Something outside the program is wrong: a file, a setting, an input.

    The message is one line that names what, where and the remedy. The command line prints it on
    stderr and exits with status 2; whoever imports the package catches this class.
    """


def lacks(what: str, extra: str) -> str:
    """The message for a package that only an extra brings: what needs which, and how to get it.
    Not from an index, where another project may have this one's name.
    """
    return (
        f"{what}; install the extra {extra!r} in the folder of the code: "
        f"pip install -c constraints.txt -e '.[{extra}]'"
    )
