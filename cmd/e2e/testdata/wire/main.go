// Command wire is a plugin for tests that is written without the SDK.
package main

import (
	"os"

	"github.com/dogwatch/dogwatch/internal/wireplugin"
)

func main() { os.Exit(wireplugin.Main()) }
