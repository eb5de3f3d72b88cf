"""The registry "@name@" reads the tags of images from a feed: one JSON document for each
repository, at URL/REPOSITORY.json:

    {"tags": {"1.25.3": {"digest": "sha256:…", "config": "sha256:…", "created": "2026-01-02T03:04:05Z"}}}
"""

from dogwatch_plugin import invalid, not_found

# What a user may set: Dogwatch validates, documents and masks it, and draws a form.
OPTIONS = {
    "host": {"required": True, "help": "Host of the image references that the feed is for, with a port if they have one", "example": "images.example.com"},
    "url": {"type": "url", "required": True, "help": "Address of the feed: the document of a repository is below it", "example": "http://localhost:8080/feed"},
    "token": {"secret": True, "help": "Token that is sent as Authorization: Bearer; none is sent without it"},
}


def validate(options):
    """Checks what the schema cannot. Texts that it returns in a list are warnings."""
    if not options["url"].startswith(("http://", "https://")):
        raise invalid("url", "want an address that starts with http:// or https://")


def hosts(options):
    """Which image references this registry is responsible for."""
    return [options["host"]]


def tags(repository, call):
    """Lists the tags of a repository, in any order."""
    return list(images(repository, call))


def resolve(repository, tag, call):
    """Returns the digest behind a tag."""
    found = images(repository, call)
    if tag not in found:
        raise not_found(f"{repository.name} has no tag {tag}")
    return found[tag]["digest"]


def manifest(repository, digest, platform, call):
    """Describes the image behind a digest. A feed with images for several platforms would choose the one of platform."""
    for image in images(repository, call).values():
        if image["digest"] == digest:
            return {"digest": digest, "config": image.get("config"), "created": image.get("created")}
    raise not_found(f"{repository.name} has no image {digest}")


def images(repository, call):
    """Reads the document of a repository."""
    url = f"{call.options['url'].rstrip('/')}/{repository.name}.json"
    return (call.json(url, token=call.options.get("token")) or {}).get("tags", {})


TYPE = {"summary": "Read the tags of images from a JSON feed", "options": OPTIONS, "validate": validate,
        "hosts": hosts, "tags": tags, "resolve": resolve, "manifest": manifest}
