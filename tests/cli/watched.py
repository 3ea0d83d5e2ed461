"""What tests wait for in a program that runs: a condition of it, never time that passes. Linux: the
state of a process is read from /proc."""

import fcntl
import os
import signal
import struct
import termios
import time

# No test takes this long, however busy the machine is: what does hangs.
HANG = 600


def wait_until(condition, what):
    deadline = time.monotonic() + HANG
    while not condition():
        if time.monotonic() > deadline:
            raise AssertionError(f"never came: {what}")
        time.sleep(0.002)


def _signals(process, *fields):
    """The signals in these masks of /proc/PID/status; None when the process is over."""
    if process.poll() is not None:
        return None
    found = 0
    with open(f"/proc/{process.pid}/status", encoding="ascii", errors="replace") as status:
        for line in status:
            name, _, value = line.partition(":")
            if name in fields:
                found |= int(value, 16)
    return found


def _has(mask, number):
    return mask is not None and mask >> (number - 1) & 1 == 1


def wait_until_caught(process, number=signal.SIGINT):
    """Until the program has a handler of its own for the signal: before, it is being loaded."""
    wait_until(lambda: process.poll() is not None or _has(_signals(process, "SigCgt"), number),
               "a handler of the signal")
    if process.poll() is not None:
        raise AssertionError(f"over before it had a handler: {process.returncode}")


def interrupt(process, number=signal.SIGINT):
    """Sends it, and returns once it has come: two that wait at the same time would be one."""
    process.send_signal(number)
    wait_until(lambda: not _has(_signals(process, "SigPnd", "ShdPnd"), number),
               "the signal's delivery")


def wait_until_read(process):
    """Until the program has taken all that was written to its standard input, a pipe."""
    def left():
        count = bytearray(struct.pack("i", 0))
        fcntl.ioctl(process.stdin.fileno(), termios.FIONREAD, count)
        return struct.unpack("i", count)[0]

    process.stdin.flush()
    wait_until(lambda: process.poll() is not None or left() == 0, "the reading of what was written")


def wait_until_open(process, path):
    """Until the program has the file open."""
    wanted = os.stat(path)

    def has_it():
        if process.poll() is not None:
            return True
        folder = f"/proc/{process.pid}/fd"
        for name in os.listdir(folder):
            try:
                if os.path.samestat(os.stat(os.path.join(folder, name)), wanted):
                    return True
            except OSError:  # closed meanwhile
                pass
        return False

    wait_until(has_it, f"the opening of {path}")


def read_terminal(master, until=None):
    """What a program writes to a pseudo-terminal: up to these bytes, or to its end. The other side must
    be closed here."""
    said = b""
    while until is None or until not in said:
        try:
            piece = os.read(master, 65536)
        except OSError:  # nobody has it open any more
            break
        if not piece:
            break
        said += piece
    return said


def close(process):
    """Closes what is left of its pipes."""
    for stream in (process.stdin, process.stdout, process.stderr):
        try:
            if stream is not None:
                stream.close()
        except BrokenPipeError:
            pass
