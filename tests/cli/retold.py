"""The same run told differently: other rank order, time unit, container, files, compression.

Times are handled as decimals, so that a retold file holds the same numbers to the last digit.
"""
import gzip
import json
import random
from decimal import Decimal

SERIES = ("compute", "comm", "stall", "wait", "step", "forward", "backward", "overlapped_comm")
UNIT_DIGITS = {"s": 0, "ms": 3, "us": 6, "ns": 9}


def load(path):
    with open(path, encoding="utf-8") as file:
        return json.load(file, parse_float=Decimal, parse_int=int)


def dump(value):
    """JSON text in which a Decimal keeps every digit."""
    if isinstance(value, Decimal):
        return format(value, "f")
    if isinstance(value, dict):
        return "{" + ",".join(json.dumps(k) + ":" + dump(v) for k, v in value.items()) + "}"
    if isinstance(value, list):
        return "[" + ",".join(dump(v) for v in value) + "]"
    return json.dumps(value)


def shifted(value, digits):
    if isinstance(value, list):
        return [shifted(v, digits) for v in value]
    return None if value is None else Decimal(value).scaleb(digits)


def in_unit(run, unit):
    digits = UNIT_DIGITS[unit] - UNIT_DIGITS[run.get("time_unit", "s")]
    retold = {"time_unit": unit}
    retold.update({k: v for k, v in run.items() if k not in ("time_unit", "ranks")})
    retold["ranks"] = []
    for rank in run["ranks"]:
        told = dict(rank)
        for name in SERIES:
            if name in told:
                told[name] = shifted(told[name], digits)
        if "comm_by_group" in told:
            told["comm_by_group"] = {k: shifted(v, digits)
                                     for k, v in told["comm_by_group"].items()}
        retold["ranks"].append(told)
    return retold


def scaled(run, factor):
    """Every time x factor (a Decimal)."""
    retold = dict(run)
    retold["ranks"] = []
    for rank in run["ranks"]:
        told = dict(rank)
        for name in SERIES:
            if name in told:
                told[name] = [None if v is None else v * factor for v in told[name]]
        if "comm_by_group" in told:
            told["comm_by_group"] = {k: [x * factor for x in v]
                                     for k, v in told["comm_by_group"].items()}
        retold["ranks"].append(told)
    return retold


def shuffled(run, seed):
    ranks = list(run["ranks"])
    random.Random(seed).shuffle(ranks)
    return {**run, "ranks": ranks}


def keys_reversed(run):
    return dict(reversed(list(run.items())))


def json_lines(run, seed=0):
    """Header, rank lines, then the samples of all ranks in a mixed order."""
    header = {k: v for k, v in run.items() if k not in ("steps", "ranks")}
    lines = [dump(header)]
    samples = []
    for rank in run["ranks"]:
        fixed = {k: v for k, v in rank.items()
                 if k not in SERIES and k not in ("comm_by_group", "telemetry")}
        if "telemetry" in rank:
            fixed["telemetry"] = rank["telemetry"]
        lines.append(dump(fixed))
        for index, step in enumerate(run["steps"]):
            sample = {"rank": rank["rank"], "step": step}
            for name in SERIES:
                if name in rank and name != "step":
                    sample[name] = rank[name][index]
            if "comm_by_group" in rank:
                sample["comm_by_group"] = {k: v[index] for k, v in rank["comm_by_group"].items()}
            samples.append(sample)
    random.Random(seed).shuffle(samples)
    return "\n".join(lines + [dump(sample) for sample in samples]) + "\n"


def split(run, parts):
    """Documents with every parts-th rank each."""
    return [{**run, "ranks": run["ranks"][i::parts]} for i in range(parts)]


def write(path, text, compressed=False):
    data = text.encode("utf-8")
    with open(path, "wb") as file:
        file.write(gzip.compress(data) if compressed else data)
    return str(path)
