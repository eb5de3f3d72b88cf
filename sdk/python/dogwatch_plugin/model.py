"""Options, and what watchers and registries return, in the form of the protocol."""

import datetime
import re

from . import wire

_REPOSITORY = re.compile(r"[a-z0-9]+([._/-]+[a-z0-9]+)*")
_TAG = re.compile(r"[A-Za-z0-9_][A-Za-z0-9_.-]{0,127}")
_DIGEST = re.compile(r"[a-z0-9]+:[0-9a-f]{32,}")


def options(kind, values):
    """The options of an instance: numbers of a Struct are floats, and whole ones beyond 2^53 texts."""
    declared = kind.get("options", {})
    return {n: int(v) if declared.get(n, {}).get("type") == "int" else v for n, v in values.items()}


def parse_image(text):
    """Reads an image reference, such as ghcr.io/team/app:1.2.3@sha256:…; raises ValueError when that is none."""
    if not text:
        raise ValueError("no image")
    name, at, digest = str(text).partition("@")
    first, slash, rest = name.partition("/")
    host = first if slash and (first == "localhost" or "." in first or ":" in first) else ""
    repository, colon, tag = (rest if host else name).partition(":")
    if not _REPOSITORY.fullmatch(repository):
        raise ValueError(f"image {text!r} has no repository of lower-case letters and digits")
    if colon and not _TAG.fullmatch(tag):
        raise ValueError(f"image {text!r} has no tag after its colon")
    if at and not _DIGEST.fullmatch(digest):
        raise ValueError(f"image {text!r} has no digest after its @")
    return {"host": host, "name": repository, "tag": tag or ("" if at else "latest"), "digest": digest, "pinned": bool(at)}


def container(c):
    """The message of a dict with id, name and, where known, status, labels, image_labels, image, image_id, digest, platform, created, error."""
    m = wire.message("Container")(id=str(c.get("id") or ""), name=str(c.get("name") or ""), status=c.get("status") or "running",
                                  labels=c.get("labels") or {}, image_labels=c.get("image_labels") or [], error=c.get("error") or "")
    try:
        image = parse_image(c.get("image"))
    except ValueError as err:
        image = {}
        m.error = m.error or str(err)
    m.image.id = c.get("image_id") or ""
    m.image.registry.host, m.image.name, m.image.tag.value = image.get("host", ""), image.get("name", ""), image.get("tag", "")
    digest = c.get("digest") or image.get("digest") or ""
    m.image.digest.repo, m.image.digest.pinned = digest, image.get("pinned", False)
    if digest and image:
        repository = f"{image['host']}/{image['name']}" if image["host"] else image["name"]
        m.image.digest.repos.append(f"{repository}@{digest}")
    platform = c.get("platform") or {}
    m.image.os, m.image.architecture, m.image.variant = (platform.get(k, "") for k in ("os", "architecture", "variant"))
    _set_time(m.image.created, c.get("created"))
    return m


def event(e):
    """The message of a dict with action ("changed" or "status"), container and status."""
    m = wire.message("WatchResponse")(container_id=e.get("container") or "", action=e["action"], status=e.get("status") or "")
    _set_time(m.at, e.get("at") or datetime.datetime.now(datetime.timezone.utc))
    return m


def tag_list(found):
    """The fields of TagsResponse: of a list of tags, or of a dict with tags, validator and not_modified."""
    return dict(found) if isinstance(found, dict) else {"tags": list(found)}


def manifest(m):
    """The message of a dict with digest and, where known, config, created, version and artifact."""
    response = wire.message("ManifestResponse")(**{k: v or "" for k, v in m.items() if k != "created"})
    _set_time(response.created, m.get("created"))
    return response


def hosts(all_hosts):
    """The messages of host patterns, or of dicts with pattern and url."""
    return [wire.message("Host")(**(h if isinstance(h, dict) else {"pattern": h})) for h in all_hosts]


def pages(items, size):
    """The messages of a list, well below the 4 MiB that one may have; an empty one is one page."""
    return [items[at:at + size] for at in range(0, max(len(items), 1), size)]


def _set_time(field, at):
    """Sets a Timestamp from a text of RFC 3339 or an aware datetime."""
    if isinstance(at, datetime.datetime):
        field.FromDatetime(at.astimezone(datetime.timezone.utc).replace(tzinfo=None))
    elif at:
        field.FromJsonString(at)
