"""Notes about telemetry."""

import gzip

from driven import HALF_OF_PEAK, run_document
from raising import raises

HEAD = "index, name, pci.bus_id, clocks.sm [MHz], utilization.gpu [%]"
NAME = "NVIDIA A100-SXM4-40GB"


def smi(node, *more, name=NAME, head=HEAD, gpus=4, utilization=99, date=""):
    lines = [head]
    for gpu in range(gpus):
        lines.append(f"{date}{gpu}, {name}, 00000000:{gpu + 16:02X}:00.0, 1410, {utilization}")
    return "\n".join([*lines, *more]) + "\n"


def diagnosed(case, document, **files):
    """`files`: node to text, in files that are named after the node."""
    return ["diagnose", case.write("run.json", document), "--telemetry",
            *[case.write(f"{node}.csv", text) for node, text in files.items()]]


@raises("telemetry-partial", "telemetry-line", "telemetry-value")
def lines_that_cannot_be_read(case):
    return diagnosed(case, run_document(), n1=smi("n1", "0, 1", f"1, {NAME}, x, 0xZZ, 99"))


@raises("truncated-tail")
def gzip_that_is_cut_off(case):
    text = gzip.compress((HEAD + "\n" + smi("n1")[len(HEAD) + 1:] * 500).encode())
    return ["diagnose", case.write("run.json", run_document()), "--telemetry",
            case.write("n1.csv.gz", text[:-30])]


@raises("telemetry-not-joined")
def devices_of_a_node_that_is_not_named(case):
    return ["diagnose", case.write("run.json", run_document()), "--telemetry",
            case.write("smi.csv", smi("x"))]


@raises("telemetry-unused")
def more_devices_than_ranks(case):
    return diagnosed(case, run_document(), n0=smi("n0"), n1=smi("n1", gpus=6))


@raises("telemetry-apart")
def samples_of_two_days(case):
    head = "timestamp, " + HEAD
    files = {f"n1-{day}": smi("n1", head=head, date=f"2026/07/{day} 08:12:00.000, ")
             for day in (14, 18)}
    return diagnosed(case, run_document(), **files)


@raises("telemetry-by-order")
def ranks_that_do_not_say_their_gpu(case):
    document = run_document(ranks=4)
    for rank in document["ranks"]:
        del rank["gpu"], rank["node"]
    return diagnosed(case, document, smi=smi("x"))


@raises("load-not-known")
def clocks_alone(case):
    text = "index, clocks.sm [MHz]\n" + "".join(f"{gpu}, 1410\n" for gpu in range(4))
    return diagnosed(case, run_document(), n1=text)


@raises("mig-enabled")
def devices_in_slices(case):
    text = "index, clocks.sm [MHz], utilization.gpu [%], mig.mode.current\n"
    text += "".join(f"{gpu}, 1410, 99, Enabled\n" for gpu in range(4))
    return diagnosed(case, run_document(), n1=text)


XID = " n1 kernel: NVRM: Xid (PCI:0000:11:00): 94, pid=1234, name=python3, Contained: memory\n"


@raises("xid-device-unknown")
def an_error_of_a_device_that_nothing_names(case):
    return ["diagnose", case.write("run.json", run_document()), "--telemetry",
            case.write("kern.log", "2026-07-14T08:10:55" + XID)]


@raises("xid-other-days")
def an_error_of_another_year(case):
    text = smi("n1", head="timestamp, " + HEAD, date="2026/07/14 08:12:00.000, ")
    return ["diagnose", case.write("run.json", run_document()), "--telemetry",
            case.write("n1.csv", text), case.write("kern.log", "2025-01-14T08:10:55" + XID)]


@raises("chip-from-telemetry")
def a_run_that_names_no_chip(case):
    return diagnosed(case, run_document(flops=HALF_OF_PEAK), n0=smi("n0"), n1=smi("n1"))


@raises("chip-contradicts-telemetry")
def a_run_of_another_chip(case):
    return diagnosed(case, run_document(flops=HALF_OF_PEAK, chip="h100-sxm"), n1=smi("n1"))


@raises("device-conflict")
def an_option_of_another_chip(case):
    return ["calc", "--tflops", "100", "--chip", "h100-sxm", "--telemetry",
            case.write("smi.csv", smi("x"))]
