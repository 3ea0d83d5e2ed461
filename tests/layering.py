#!/usr/bin/env python3
"""Reads every #include line and fails on an arrow between rooms that is not listed here.

A room is a folder of src/. A public header belongs to the room that implements it. `apps` sees all;
nobody sees `apps`. The list below is the one of the design; a new arrow is a decision, not a fix.
"""

import os
import pathlib
import re
import sys
import tempfile

# Who may include whom. A room always sees itself. "room:header" opens that one header only,
# "room:*end" those whose names end like that.
ARROWS = {
    "base": [],
    "statistics": ["base"],
    "model": ["base"],
    "flops": ["base", "model"],
    # A run names the clock of its peak, so Clock lives in the public timings header.
    "chips": ["base", "timings:mfu/timings.hpp"],
    "timings": ["base"],
    # What profiler traces are reduced to, and what they show across ranks.
    "traces": ["base", "statistics", "timings"],
    # A log's arguments block is a model shape.
    "logs": ["base", "statistics", "model:mfu/model.hpp"],
    # A run may hold an inline model shape. Telemetry tells devices, and users have chips of their own.
    "readers": ["base", "statistics", "timings", "traces", "logs", "model:mfu/model.hpp",
                "chips:mfu/chip.hpp"],
    # The questions. None knows another, but a comparison is of what was measured or diagnosed.
    # The statistics of a training log.
    "measure": ["base", "statistics", "model", "flops", "chips", "timings",
                "logs:logs/training_log.hpp"],
    "diagnose": ["base", "statistics", "model", "flops", "chips", "timings"],
    "compare": ["base", "statistics", "model", "flops", "chips", "timings", "measure", "diagnose"],
    "plan": ["base", "statistics", "model", "flops", "chips", "timings"],
    # A report lists its inputs: InputInfo.
    "report": ["base", "statistics", "model", "flops", "chips", "timings", "measure", "diagnose",
               "compare", "plan", "readers:mfu/read.hpp", "logs:logs/training_log.hpp"],
    # What a report holds of each command is in headers of its own: NAME_section.hpp.
    "render": ["base", "statistics:mfu/interval.hpp", "report:mfu/report.hpp",
               "report:*_section.hpp"],
}

# The headers that an outside program includes, and the room that each belongs to.
PUBLIC = {
    "error": "base", "quantity": "base", "boxed": "base", "version": "base",
    "interval": "statistics", "model": "model", "flops": "flops", "chip": "chips",
    "timings": "timings", "read": "readers", "measure": "measure", "diagnose": "diagnose",
    "compare": "compare", "plan": "plan", "report": "report", "render": "render",
}

# Libraries from outside: the start of the include path, and the rooms that may use it.
EXTERNAL = {
    # Errors hold numbers in every room; questions make numbers only, and no text.
    "fmt/": {"base", "model", "flops", "chips", "timings", "readers", "report", "render", "apps"},
    "nlohmann/": {"model", "readers", "render", "apps"},
    "rapidjson/": {"base"},
    "zlib.h": {"base"},
    "sqlite3.h": {"traces"},
    "CLI/": {"apps"},
    "spdlog/": {"apps"},
}
# Files, terminals and signals are asked for in two places.
SYSTEM = {"base", "apps"}

INCLUDE = re.compile(r'^\s*#\s*include\s*([<"])([^>"]+)[>"]', re.MULTILINE)


def room_of_target(root, file, path):
    """The room that an included path belongs to; None when it is not ours."""
    parts = path.split("/")
    if path == "mfu/mfu.hpp":
        return "all"
    if parts[0] == "mfu" and len(parts) == 2:
        return PUBLIC.get(parts[1].rsplit(".", 1)[0], "unknown")
    if parts[0] in ARROWS:
        return parts[0]
    if parts[0] == "apps" or ".." in parts:
        return "apps" if "apps" in parts else "unknown"
    if (file.parent / path).exists():
        return "same"
    if (root / "apps" / "mfu" / path).exists():
        return "apps"
    return None


def check_include(root, file, room, public, quoted, path):
    """What is wrong with this include, or None."""
    target = room_of_target(root, file, path)
    if target is None:
        for prefix, rooms in EXTERNAL.items():
            if path.startswith(prefix):
                if public:
                    return f"a public header needs {path}: users would need it, too"
                return None if room in rooms else f"{room} may not use {path}"
        if quoted:
            return f"{path} is not a header of ours"
        if "." in path or "/" in path:
            return None if room in SYSTEM else f"{room} may not use the system header {path}"
        return None
    if target == "unknown":
        return f"{path} belongs to no known room"
    if public and not path.startswith("mfu/"):
        return f"a public header includes {path}, which is not public"
    if target in ("same", room) or room == "apps":
        return None
    if target == "all":
        return "mfu/mfu.hpp is for users; include the headers that are needed"
    narrow = []
    for allowed in ARROWS[room]:
        name, _, only = allowed.partition(":")
        if name == target:
            if not only or only == path or (only[0] == "*" and path.endswith(only[1:])):
                return None
            narrow.append(only)
    if narrow:
        return f"{room} may include {' and '.join(narrow)} of {target}, not {path}"
    return f"{room} may not know {target} ({path})"


def sources(folder):
    if folder.is_dir():
        for file in sorted(folder.rglob("*")):
            if file.suffix in (".hpp", ".cpp", ".h", ".cc", ".inc"):
                yield file


def check(root):
    problems = []

    def read(file, room, public=False):
        text = file.read_text(encoding="utf-8")
        for match in INCLUDE.finditer(text):
            wrong = check_include(root, file, room, public, match[1] == '"', match[2])
            if wrong:
                line = text.count("\n", 0, match.start(2)) + 1
                problems.append(f"{file.relative_to(root)}:{line}: {wrong}")

    for file in sources(root / "include" / "mfu"):
        if file.name == "mfu.hpp":
            continue  # names all the others, for users
        room = PUBLIC.get(file.stem)
        if room is None:
            problems.append(f"{file.relative_to(root)}: a public header of no known room")
        else:
            read(file, room, public=True)
    for file in sources(root / "src"):
        room = file.relative_to(root / "src").parts[0]
        if room not in ARROWS:
            problems.append(f"{file.relative_to(root)}: no room is called {room}")
        else:
            read(file, room)
    for file in sources(root / "apps"):
        read(file, "apps")

    # What a room links says the same as what it includes.
    for room, arrows in ARROWS.items():
        lists = root / "src" / room / "CMakeLists.txt"
        if lists.exists():
            known = re.search(r"KNOWS([^)]*?)(?:USES|SOURCES|\))", lists.read_text())
            names = known[1].split() if known else []
            allowed = {arrow.partition(":")[0] for arrow in arrows}
            for name in names:
                if name not in allowed:
                    problems.append(f"{lists.relative_to(root)}: {room} KNOWS {name}")
    return problems


def self_test():
    """The test must see what it is there to see."""
    cases = [
        ("src/base/a.cpp", '#include "timings/builder.hpp"\n', "base may not know timings"),
        ("src/base/a.cpp", '#include "mfu/timings.hpp"\n', "base may not know timings"),
        ("src/readers/a.cpp", '#include "mfu/diagnose.hpp"\n', "readers may not know diagnose"),
        ("src/readers/run/a.cpp", '#include "measure/calc.hpp"\n', "readers may not know measure"),
        ("src/diagnose/a.cpp", '#include "mfu/read.hpp"\n', "diagnose may not know readers"),
        ("src/diagnose/fit/a.cpp", '#include "mfu/measure.hpp"\n', "diagnose may not know measure"),
        ("src/measure/a.cpp", '#include "diagnose/fit/job.hpp"\n', "measure may not know diagnose"),
        ("src/plan/a.cpp", '#include "mfu/compare.hpp"\n', "plan may not know compare"),
        ("src/diagnose/a.cpp", "#include <nlohmann/json.hpp>\n", "diagnose may not use nlohmann"),
        ("src/measure/a.cpp", "#  include <fmt/format.h>\n", "measure may not use fmt"),
        ("src/compare/a.cpp", "#include <zlib.h>\n", "compare may not use zlib"),
        ("src/plan/a.cpp", "#include <unistd.h>\n", "system header"),
        ("src/render/json/a.cpp", '#include "mfu/diagnose.hpp"\n', "render may not know diagnose"),
        ("src/statistics/a.cpp", '#include "diagnose/fit/job.hpp"\n',
         "statistics may not know diagnose"),
        ("src/render/a.cpp", '#include "report/wording.hpp"\n', "render may include mfu/report.hpp"),
        ("src/render/a.cpp", '#include "measure/peaks.hpp"\n', "render may not know measure"),
        ("src/render/a.cpp", '#include "diagnose/a_section.hpp"\n', "render may not know diagnose"),
        ("src/report/a.cpp", '#include "readers/registry.hpp"\n', "report may include mfu/read.hpp"),
        ("src/report/a.cpp", '#include "../../apps/mfu/options.hpp"\n', "report may not know apps"),
        ("src/report/a.cpp", '#include "mfu/mfu.hpp"\n', "is for users"),
        ("src/tools/a.cpp", "", "no room is called tools"),
        ("include/mfu/error.hpp", '#include "base/bytes.hpp"\n', "not public"),
        ("include/mfu/error.hpp", "#include <fmt/format.h>\n", "users would need it"),
        ("include/mfu/other.hpp", "", "of no known room"),
        ("include/mfu/report.hpp", '#include "report/list/list_section.hpp"\n', "not public"),
        ("include/mfu/timings.hpp", '#include "timings/trace.hpp"\n', "not public"),
        ("src/base/CMakeLists.txt", "mfu_room(NAME base SOURCES a.cpp KNOWS report)", "KNOWS report"),
        ("src/chips/a.cpp", '#include "mfu/timings.hpp"\n#include <vector>\n', None),
        ("src/report/a.cpp", '#include "mfu/read.hpp"\n#include "statistics/robust.hpp"\n', None),
        ("src/render/a.cpp",
         '#include "mfu/report.hpp"\n#include "report/list/list_section.hpp"\n', None),
        ("src/compare/a.cpp", '#include "measure/log_series.hpp"\n', None),
        ("src/base/a.cpp", "#include <zlib.h>\n#include <fcntl.h>\n", None),
        ("apps/mfu/main.cpp", '#include "mfu/mfu.hpp"\n#include <CLI/CLI.hpp>\n', None),
    ]
    for path, text, wanted in cases:
        with tempfile.TemporaryDirectory(prefix="mfu-layering-") as name:
            root = pathlib.Path(name)
            file = root / path
            file.parent.mkdir(parents=True)
            file.write_text(text)
            found = check(root)
            if wanted is None and found:
                sys.exit(f"self-test: {text!r} in {path} was refused: {found}")
            if wanted is not None and (len(found) != 1 or wanted not in found[0]):
                sys.exit(f"self-test: {text!r} in {path}: wanted '{wanted}', got {found}")


def main():
    default = pathlib.Path(__file__).resolve().parent.parent
    root = pathlib.Path(os.environ.get("MFU_SOURCE_DIR", default))
    self_test()
    problems = check(root)
    for problem in problems:
        print(problem)
    if problems:
        sys.exit(1)
    print("every include follows the list of arrows")


if __name__ == "__main__":
    main()
