"""The one kind of error that is the user's to mend."""


class UserError(Exception):
    """Something outside the program is wrong: a file, a setting, an input.

    The message is one line that names what, where and the remedy. The command line prints it on
    stderr and exits with status 2; whoever imports the package catches this class.
    """
