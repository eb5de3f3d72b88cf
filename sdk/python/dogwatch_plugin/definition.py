"""What an author's types say of their options, before Dogwatch is told of them."""

import difflib

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
            option(**{key: str(value) if key == "default" else value})
        except (TypeError, ValueError) as err:
            yield f": {key}: {err}"
