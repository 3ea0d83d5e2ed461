"""The list of inputs that raise notes. An input is a function that makes it: it is handed the test
(folder, write(), mfu()), and gives the command line without --json."""

INPUTS = []


def raises(*wanted, code=0):
    """The codes that this input raises. "no-steps=info": with another severity than its row has."""
    def enter(make):
        INPUTS.append((wanted, make, code))
        return make
    return enter
