package imagediff

import (
	"fmt"
	"strings"

	"github.com/dogwatch/dogwatch/sdk"
)

// largerBy is from how many bytes on a growth by half is worth a warning.
const largerBy = 50 << 20

// maxNamed is how many names a warning lists.
const maxNamed = 5

// warn adds the warnings. What a container sets itself is not known here: they say what
// the image does for containers that do not.
func (d *Diff) warn(before, after sdk.ImageConfig) {
	add := func(code, format string, args ...any) {
		d.Warnings = append(d.Warnings, Warning{Code: "image." + code, Text: fmt.Sprintf(format, args...)})
	}
	switch a, b := user(before.User), user(after.User); {
	case a == b:
	case b == "root":
		add("user", "runs as root instead of %s: files that it writes belong to root", quoted(a))
	default:
		add("user", "runs as another user: %s instead of %s; it may not be able to write to its existing files", quoted(b),
			quoted(a))
	}
	if names := d.names(Volume, false); names != "" {
		add("volume",
			"has a new volume %s: what is written there is lost with the container unless something is mounted", names)
	}
	if names := d.names(Volume, true); names != "" {
		add("volume.gone", "no longer has the volume %s: what is there may be looked for elsewhere now", names)
	}
	if names := d.names(Port, true); names != "" {
		add("port", "no longer exposes %s", names)
	}
	for _, c := range d.Changes {
		switch {
		case c.Kind == Entrypoint:
			add("entrypoint", "starts with another entrypoint: %s instead of %s", orNone(c.After), orNone(c.Before))
		case c.Kind == Command:
			add("command", "starts with another command: %s instead of %s", orNone(c.After), orNone(c.Before))
		case c.Kind == WorkingDir:
			add("workdir", "works in another folder: %s instead of %s", orNone(c.After), orNone(c.Before))
		case c.Kind == Health && c.After == "":
			add("healthcheck", "has no health check any more")
		case c.Kind == Platform && c.Before != "" && c.After != "":
			add("platform", "is for another platform: %s instead of %s", c.After, c.Before)
		}
	}
	if names := d.names(Env, true); names != "" {
		add("env", "no longer sets %s", names)
	}
	if s := d.Size; s.Before > 0 && s.After-s.Before >= largerBy && s.After-s.Before >= s.Before/2 {
		add("size", "is much larger: %d MB instead of %d MB", s.After/1e6, s.Before/1e6)
	}
}

// user is whom a container runs as. Engines take a missing user for root.
func user(name string) string {
	if name == "" || name == "0" || name == "0:0" || name == "root:root" {
		return "root"
	}
	return name
}

// names lists what only one image has of a kind: the one before if gone, else the other.
func (d *Diff) names(kind string, gone bool) string {
	var names []string
	more := 0
	for _, c := range d.Changes {
		if c.Kind != kind || gone && !c.Gone || !gone && !c.Added {
			continue
		}
		if len(names) == maxNamed {
			more++
			continue
		}
		names = append(names, c.Name)
	}
	if more > 0 {
		names = append(names, fmt.Sprintf("%d more", more))
	}
	return strings.Join(names, ", ")
}

func orNone(text string) string {
	if text == "" {
		return "none"
	}
	return fmt.Sprintf("%q", text)
}
