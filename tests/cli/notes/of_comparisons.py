"""Notes about what is held against what: two runs, a saved report, a history."""

import json

from driven import HALF_OF_PEAK, run_document
from raising import raises


def run_file(case, name, flops=HALF_OF_PEAK, chip="a100", ranks=8, **options):
    document = run_document(flops=flops, chip=chip, **options)
    document["ranks"] = document["ranks"][:ranks]
    return case.write(name, document)


def saved(case, name, *arguments):
    done = case.mfu(*arguments, "--json")
    case.assertEqual(done.returncode, 0, done.stderr)
    return case.write(name, done.stdout)


@raises("ranks-not-recorded")
def a_run_of_some_ranks(case):
    return ["compare", run_file(case, "before.json"), run_file(case, "after.json", ranks=6)]


@raises("report-as-saved", "same-measurement")
def options_beside_a_report(case):
    run = run_file(case, "run.json")
    reports = [saved(case, name, "diagnose", run) for name in ("a.json", "b.json")]
    return ["compare", *reports, "--steps", "3..9"]


@raises("options-of-logs")
def an_option_of_logs_beside_runs(case):
    return ["compare", run_file(case, "before.json"), run_file(case, "after.json", stall=0.3),
            "--params", "7B"]


@raises("reconverted")
def two_chips(case):
    return ["compare", run_file(case, "before.json"), run_file(case, "after.json", chip="h100-sxm"),
            "--reconvert"]


def history(case, *records):
    """A history of one record, and these."""
    report = saved(case, "report.json", "calc", "--tflops", "140", "--peak", "312T", "--gpus", "8")
    path = case.folder / "history.jsonl"
    done = case.mfu("history", "add", report, "--db", str(path), "--job", "nightly")
    case.assertEqual(done.returncode, 0, done.stderr)
    whole = path.read_text()
    path.write_text(whole + "".join(record(json.loads(whole)) for record in records))
    return str(path)


@raises("history-values", "history-version", "history-line", "history-cut-off")
def records_that_are_none(case):
    return ["history", "show", "--db", history(
        case, lambda record: json.dumps({**record, "mfu": 7}) + "\n",
        lambda record: '{"schema": "mfu.history/2", "job": "a"}\n', lambda record: "hello\n",
        lambda record: '{"schema": "mfu.hi')]


@raises("history-no-baseline", "history-not-alike")
def a_history_of_another_command(case):
    return ["diagnose", run_file(case, "run.json"), "--against", "history", "--db", history(case),
            "--job", "nightly", "--max-regression", "5%"]
