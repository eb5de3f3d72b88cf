"""The Dogwatch plugin @id@."""

from dogwatch_plugin import serve

import @kind@

VERSION = "dev"  # build.sh sets it

if __name__ == "__main__":
    serve(VERSION, @list@={"@name@": @kind@.TYPE})
