#!/usr/bin/env bash
# The body of the action: mfu log with what the inputs say. Its exit code is that of mfu.
set -euo pipefail

program=${MFU_PROGRAM:-}
if [ -z "$program" ]; then
  if command -v mfu >/dev/null 2>&1; then
    program=mfu
  else
    root=$(cd "${MFU_ACTION:?}/../../.." && pwd)
    "$root/cmake/bootstrap.sh" demo >&2
    program=$root/build/release/bin/mfu
  fi
fi

# Blanks separate options; nothing in them is expanded.
read -r -d '' -a options <<<"${MFU_OPTIONS:-}" || true
# ./ keeps a name that begins with a dash from being an option.
log=${MFU_LOG:?no log is given}
case $log in
  -|/*) ;;
  *) log=./$log ;;
esac
report=${MFU_REPORT:-mfu.json}
arguments=(log "$log" "${options[@]}" --out "json:$report" --out github)
[ -z "${MFU_JUNIT:-}" ] || arguments+=(--out "junit:$MFU_JUNIT")
[ -z "${MFU_MIN_MFU:-}" ] || arguments+=(--min-mfu "$MFU_MIN_MFU")
[ -z "${MFU_MAX_STEP:-}" ] || arguments+=(--max-step "$MFU_MAX_STEP")
if [ -n "${MFU_BASELINE:-}" ]; then
  # The first run of a project has nothing to be held against.
  if [ -s "$MFU_BASELINE" ]; then
    arguments+=(--baseline "$MFU_BASELINE" --max-regression "${MFU_MAX_REGRESSION:-3%}")
  else
    echo "mfu: no baseline at $MFU_BASELINE: nothing to compare the run with" >&2
  fi
fi

status=0
"$program" "${arguments[@]}" || status=$?

# A report that an earlier run left is none of this one.
if [ -n "${GITHUB_OUTPUT:-}" ] && [ "$status" -le 1 ]; then
  python3 - "$report" >>"$GITHUB_OUTPUT" <<'PYTHON'
import json
import sys

with open(sys.argv[1], encoding="utf-8") as file:
    headline = json.load(file).get("headline", {})
for name, key in (("mfu", "mfu"), ("step-seconds", "step_seconds")):
    value = headline.get(key)
    print(f"{name}={'' if value is None else repr(value)}")
PYTHON
fi
exit "$status"
