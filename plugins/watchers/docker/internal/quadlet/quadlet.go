// Package quadlet changes the image in the file of a quadlet, and has systemd create its container anew. See
// podman-systemd.unit(5): https://docs.podman.io/en/latest/markdown/podman-systemd.unit.5.html.
package quadlet

import (
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"github.com/dogwatch/dogwatch/plugins/watchers/docker/internal/compose"
)

// The codes of an error of Edit, beside those of package compose.
const (
	Kind     = "quadlet.kind"     // the file describes no single container
	Dropin   = "quadlet.dropin"   // a drop-in has the image
	Template = "quadlet.template" // several containers come from one file
	Name     = "quadlet.name"     // the file describes another container
)

func refuse(code, file, format string, args ...any) error {
	return &compose.Error{Code: code, File: file, Text: fmt.Sprintf(format, args...)}
}

// Edit returns the change after which a quadlet gives its container the image newRef, if it gives it oldRef now. name
// is the container's. Nothing is read but through read. Errors are of type *compose.Error.
func Edit(file, name, oldRef, newRef string, read compose.Reader) (compose.Change, error) {
	base := filepath.Base(file)
	switch {
	case filepath.Ext(base) != ".container":
		return compose.Change{}, refuse(Kind, file, "this is no .container file, so it does not name the image of %s alone: "+
			"change the image there, and restart its unit", name)
	case strings.Contains(base, "@"):
		return compose.Change{}, refuse(Template, file, "several containers come from this template: "+
			"change the image there, and restart each of them")
	}
	data, err := read(file)
	if err != nil {
		return compose.Change{}, compose.ReadError(file, err)
	}
	if err := dropins(file, read); err != nil {
		return compose.Change{}, err
	}
	if called := containerName(data, base); called != name {
		return compose.Change{}, refuse(Name, file, "this quadlet makes the container %s, and %s says that it comes from "+
			"it: restart the unit of the quadlet", called, name)
	}
	from, to := value(data, "Image")
	image := string(data[from:to])
	switch ext := filepath.Ext(image); {
	case image == "":
		return compose.Change{}, refuse(compose.ImageMissing, file, "the section [Container] names no image")
	case ext == ".image" || ext == ".build":
		return compose.Change{}, refuse(Kind, file, "the image comes from the quadlet %s: change it there, or write the name of "+
			"the image here", image)
	case strings.ContainsAny(image, " \t\"'\\%$"):
		return compose.Change{}, refuse(compose.LayoutUnsupported, file, "the image is written in a way that cannot be "+
			"replaced: write it on one line, such as Image=%s", newRef)
	}
	return compose.EditText(file, data, from, to, oldRef, newRef)
}

// dropins refuses a drop-in of a quadlet that has an image, which counts instead of that of the file.
func dropins(file string, read compose.Reader) error {
	folder, base := filepath.Split(file)
	folders := []string{file + ".d", filepath.Join(folder, "container.d")}
	for i, letter := range base { // "web-.container.d" is for all quadlets that begin so
		if letter == '-' {
			folders = append(folders, filepath.Join(folder, base[:i+1]+".container.d"))
		}
	}
	for _, f := range folders {
		names, err := filepath.Glob(filepath.Join(escape(f), "*.conf"))
		if err != nil {
			return refuse(Dropin, f, "its drop-ins cannot be listed: %v", err)
		}
		for _, name := range names {
			data, err := read(name)
			if err != nil {
				return compose.ReadError(name, err)
			}
			if from, to := value(data, "Image"); from < to {
				return refuse(Dropin, name, "this drop-in has the image of %s: change it there, or move it into the quadlet", base)
			}
		}
	}
	return nil
}

// escape makes a path a pattern of itself.
func escape(path string) string {
	return strings.NewReplacer(`\`, `\\`, `*`, `\*`, `?`, `\?`, `[`, `\[`).Replace(path)
}

// containerName is what a quadlet calls its container: "systemd-NAME" unless it says another name.
func containerName(data []byte, base string) string {
	unit := strings.TrimSuffix(base, ".container")
	from, to := value(data, "ContainerName")
	if from == to {
		return "systemd-" + unit
	}
	return strings.NewReplacer("%%", "%", "%N", unit, "%p", unit, "%n", unit+".service").Replace(string(data[from:to]))
}

// value returns where the last value of a key in the section [Container] stands, as in systemd.syntax(7): the last one
// counts. Both are 0 where there is none.
func value(data []byte, key string) (from, to int) {
	section, continued, offset := "", false, 0
	for line := range strings.Lines(string(data)) {
		text := strings.TrimSpace(line)
		switch name, set, found := strings.Cut(text, "="); {
		case continued:
		case strings.HasPrefix(text, "#"), strings.HasPrefix(text, ";"):
		case strings.HasPrefix(text, "["):
			section = text
		case found && section == "[Container]" && strings.TrimSpace(name) == key:
			set = strings.TrimSpace(set)
			to = offset + len(strings.TrimRight(line, " \t\r\n"))
			from = to - len(set)
		}
		comment := strings.HasPrefix(text, "#") || strings.HasPrefix(text, ";")
		continued = strings.HasSuffix(text, `\`) && !comment || continued && comment
		offset += len(line)
	}
	return from, to
}

// Within reports whether a file is in one of the folders, or below it.
func Within(file string, folders []string) bool {
	return slices.ContainsFunc(folders, func(folder string) bool {
		rest, err := filepath.Rel(folder, file)
		return err == nil && filepath.IsLocal(rest)
	})
}
