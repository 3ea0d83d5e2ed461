"""Notes about exports of Nsight Systems."""

import contextlib
import sqlite3

from raising import raises

TABLES = """
CREATE TABLE StringIds (id INTEGER NOT NULL PRIMARY KEY, value TEXT NOT NULL);
CREATE TABLE META_DATA_EXPORT (name TEXT NOT NULL, value TEXT);
INSERT INTO META_DATA_EXPORT VALUES ('EXPORT_SCHEMA_VERSION', '3.18.0');
CREATE TABLE CUPTI_ACTIVITY_KIND_KERNEL (start, end, deviceId, contextId, streamId, correlationId,
  globalPid, demangledName, shortName);
CREATE TABLE CUPTI_ACTIVITY_KIND_MEMCPY (start, end, deviceId, contextId, streamId, correlationId,
  globalPid, bytes, copyKind, srcDeviceId, dstDeviceId);
CREATE TABLE CUPTI_ACTIVITY_KIND_RUNTIME (start, end, eventClass, globalTid, correlationId, nameId,
  returnValue);
CREATE TABLE NVTX_EVENTS (start, end, eventType, text, globalTid, textId, domainId, jsonText);
CREATE TABLE TARGET_INFO_SESSION_START_TIME (utcEpochNs, utcTime, localTime);
"""
PUSH_POP, MARK = 59, 34


def pid(process):
    return (1 << 48) | (process << 24)


class Export:
    def __init__(self, path, steps=3):
        self.database = sqlite3.connect(path)
        self.database.executescript(TABLES)
        for step in range(steps):
            at = 1000 * step
            self.range(at, at + 900, f"iteration{step}")
            self.launch(at + 10, step + 1)
            self.kernel(at + 200, at + 800, "gemm", step + 1)

    def row(self, table, *values):
        self.database.execute(f"INSERT INTO {table} VALUES ({','.join('?' * len(values))})", values)

    def string(self, text):
        return self.database.execute("INSERT INTO StringIds (value) VALUES (?)", (text,)).lastrowid

    def kernel(self, start, end, name, correlation=None, process=7, device=0):
        named = self.string(name) if isinstance(name, str) else name
        self.row("CUPTI_ACTIVITY_KIND_KERNEL", start, end, device, 1, 7, correlation,
                 None if process is None else pid(process), named, named)

    def copy(self, start, end, process=7):
        self.row("CUPTI_ACTIVITY_KIND_MEMCPY", start, end, 0, 1, 7, None, pid(process), 4096, 1,
                 None, None)

    def launch(self, start, correlation, process=7):
        self.row("CUPTI_ACTIVITY_KIND_RUNTIME", start, start + 1, 0, pid(process) | 1, correlation,
                 self.string("cudaLaunchKernel_v7000"), 0)

    def range(self, start, end, text, process=7, kind=PUSH_POP):
        self.row("NVTX_EVENTS", start, end, kind, None, pid(process) | 1, self.string(text), 0, None)


@contextlib.contextmanager
def exported(case, name="rank0.sqlite", **options):
    """An export with steps; the command line that reads it."""
    export = Export(case.folder / name, **options)
    yield export, ["diagnose", str(case.folder / name)]
    export.database.commit()
    export.database.close()


@raises("wrong-column-type", "negative-duration", "overflowing-duration", "kernel-without-name")
def rows_that_cannot_be_used(case):
    with exported(case) as (export, line):
        export.kernel("soon", 300, "a")
        export.kernel(500, 300, "b")
        export.kernel(1, 9223372036854775807, "c")
        export.kernel(2300, 2400, 4711)
    return line


@raises("wrong-column-type=info", "open-range")
def ranges_that_cannot_be_used(case):
    with exported(case) as (export, line):
        export.range(1, 2, "iteration9", kind=None)
        export.range(1, None, "iteration9")
    return line


@raises("several-devices", "too-many-devices")
def kernels_in_passing_on_other_devices(case):
    with exported(case, steps=200) as (export, line):
        for device in range(1, 300):
            export.kernel(100 * device, 100 * device + 1, "a", device=device)
    return line


@raises("process-without-kernels", "too-many-processes")
def processes_that_only_copy(case):
    with exported(case) as (export, line):
        for process in range(8, 6000):
            export.copy(100, 200, process=process)
    return line


@raises("process-unknown")
def launches_of_two_processes(case):
    with exported(case, steps=0) as (export, line):
        export.kernel(100, 200, "gemm", 1, process=None)
        for process in (7, 8):
            export.range(0, 900, "iteration1", process=process)
    return line


@raises("whole-graphs")
def graphs_as_a_whole(case):
    with exported(case) as (export, line):
        export.database.execute(
            "CREATE TABLE CUPTI_ACTIVITY_KIND_GRAPH_TRACE (start, end, deviceId, contextId, streamId, "
            "correlationId, globalPid, graphExecId)")
        export.row("CUPTI_ACTIVITY_KIND_GRAPH_TRACE", 2820, 2850, 0, 1, 7, None, pid(7), 1)
    return line


@raises("session-start-unknown", "several-sessions")
def a_start_to_the_second(case):
    with exported(case) as (export, line):
        for _ in range(2):
            export.row("TARGET_INFO_SESSION_START_TIME", None, "2023-06-26T21:00:57", None)
    return line


@raises("several-step-ranges", "nvtx-ranges-unusable")
def ranges_within_ranges(case):
    with exported(case) as (export, line):
        for step in range(3):
            for part in range(2):
                begin = 1000 * step + 100 + 400 * part
                export.range(begin, begin + 300, f"iter {2 * step + part}")
                export.range(begin, begin + 300, f"batch {part}")
    return line


@raises("launches-unlinked")
def ranges_without_launches(case):
    with exported(case) as (export, line):
        export.database.execute("DELETE FROM CUPTI_ACTIVITY_KIND_RUNTIME")
    return line


@raises("rank-from-number")
def a_name_that_ends_in_a_number(case):
    with exported(case, name="profile.3.nsys-rep.sqlite") as (_, line):
        pass
    return line


@raises("unfinished-export")
def an_export_that_goes_on(case):
    with exported(case) as (_, line):
        pass
    case.write("rank0.sqlite-journal", "not finished")
    return line
