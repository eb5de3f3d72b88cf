"""What an author's types say of their options, before Dogwatch is told of them."""

import difflib
import re

from . import wire


def mistakes(kinds):
    """What is wrong with the options of types, which are given by kind and name."""
    return [f"{kind}.{name}: option {option}{text}" for kind, held in kinds.items() for name, t in held.items()
            for option, o in t.get("options", {}).items() for text in _of_option(o)]


def _of_option(o):
    if not isinstance(o, dict):
        yield ': want a dict such as {"type": "url", "help": "…"}'
        return
    option = wire.message("Option")
    keys = [f.name for f in option.DESCRIPTOR.fields if f.name != "name"]
    for key, value in o.items():
        if key not in keys:
            near = difflib.get_close_matches(str(key).lower(), keys, 1)
            meant = f": did you mean {near[0]}?" if near else ""
            yield f": unknown key {key}{meant} (keys: {', '.join(keys)})"
            continue
        try:
            option(**{key: default_of(o) if key == "default" else value})
        except (TypeError, ValueError) as err:
            yield f": {key}: {err}"


def default_of(o):
    """The default of an option as text; "" for one without."""
    value = o.get("default")
    if isinstance(value, (list, tuple)):
        return ",".join(str(v) for v in value)
    return "" if value is None else str(value)


_SECOND = 10**9
_UNITS = {"ns": 1, "us": 10**3, "µs": 10**3, "ms": 10**6, "s": _SECOND, "m": 60 * _SECOND, "h": 3600 * _SECOND}


def _duration(text):
    """Writes a duration such as 90s, or milliseconds, as Dogwatch does: 1m30s."""
    parts = [(text, "ms")] if text.isdigit() else re.findall(r"([0-9.]+)(ns|us|µs|ms|s|m|h)", text)
    n = sum(round(float(value) * _UNITS[unit]) for value, unit in parts)
    for unit in ("ms", "µs", "ns"):
        if _UNITS[unit] <= n < _SECOND:
            return _decimal(n / _UNITS[unit]) + unit
    hours, rest = divmod(n, _UNITS["h"])
    minutes, rest = divmod(rest, _UNITS["m"])
    return (f"{hours}h" if hours else "") + (f"{minutes}m" if hours or minutes else "") + _decimal(rest / _SECOND) + "s"


def _decimal(n):
    return f"{n:.9f}".rstrip("0").rstrip(".")


_READ = {
    "int": int,
    "float": float,
    "bool": lambda text: text.lower() in ("true", "yes", "on", "1"),
    "list": lambda text: [item.strip() for item in text.split(",") if item.strip()],
    "duration": _duration,
}


def with_defaults(kind, options):
    """Options as Dogwatch sends them: those that are not set have the defaults of their type."""
    declared = kind.get("options", {}).items()
    filled = {name: _READ.get(o.get("type"), str)(default_of(o)) for name, o in declared if default_of(o)}
    return {**filled, **{name: v for name, v in options.items() if v not in (None, "", [])}}
