// Package lookup finds containers by what users call them.
package lookup

import (
	"fmt"
	"slices"
	"strings"

	"github.com/dogwatch/dogwatch/internal/reference"
	"github.com/dogwatch/dogwatch/sdk"
	"github.com/dogwatch/dogwatch/sdk/option"
)

// minID is from how many characters on a word may be the beginning of an id:
// fewer would make names of few letters ambiguous.
const minID = 4

// Containers returns the containers that name stands for, the first of these
// that any has: its id; its name, alone or behind that of its watcher
// (local/nginx); its display name, whatever its case; the beginning of its id;
// its image, with the tag or without. Several have the same name only with
// several watchers.
func Containers(all []sdk.Container, name string) []sdk.Container {
	name = strings.TrimSpace(name)
	if name == "" {
		return nil
	}
	for _, means := range meanings(name) {
		var found []sdk.Container
		for _, c := range all {
			if means(c) {
				found = append(found, c)
			}
		}
		if len(found) > 0 {
			return found
		}
	}
	return nil
}

// meanings are what a word may mean, the most certain first.
func meanings(name string) []func(sdk.Container) bool {
	plain := strings.TrimPrefix(name, "/") // as engines write it
	all := []func(sdk.Container) bool{
		func(c sdk.Container) bool { return c.ID == name },
		func(c sdk.Container) bool { return nameOf(c) == plain || Qualified(c) == plain },
		func(c sdk.Container) bool { return strings.EqualFold(c.DisplayName, name) },
	}
	if len(name) >= minID && strings.Trim(name, "0123456789abcdef") == "" {
		all = append(all, func(c sdk.Container) bool { return strings.HasPrefix(c.ID, name) })
	}
	if ref, err := reference.Parse(name); err == nil {
		tagged := strings.ContainsAny(name[strings.LastIndex(name, "/")+1:], ":@")
		all = append(all, func(c sdk.Container) bool { return runs(c, ref, tagged) })
	}
	return all
}

// runs reports whether a container runs an image, of any tag unless the reference is tagged.
func runs(c sdk.Container, ref reference.Reference, tagged bool) bool {
	own, err := reference.Parse(reference.Join(c.Image.Registry.Host, c.Image.Name))
	if err != nil || own.Domain != ref.Domain || own.Path != ref.Path {
		return false
	}
	return !tagged || ref.Digest == "" && c.Image.Tag.Value == ref.Tag ||
		ref.Digest != "" && c.Image.Digest.Repo == ref.Digest
}

func nameOf(c sdk.Container) string { return strings.TrimPrefix(c.Name, "/") }

// Qualified returns the name of a container behind that of its watcher, which no other has.
func Qualified(c sdk.Container) string { return c.Watcher + "/" + nameOf(c) }

// One returns the one container that name stands for. The error says that there
// is none, with what was probably meant, or that there are several.
func One(all []sdk.Container, name string) (sdk.Container, error) {
	switch found := Containers(all, name); len(found) {
	case 1:
		return found[0], nil
	case 0:
		return sdk.Container{}, Unknown(all, name)
	default:
		return sdk.Container{}, fmt.Errorf("%q can be %s: say which", name, choices(found))
	}
}

// shown is how many choices an error names.
const shown = 5

func choices(found []sdk.Container) string {
	var names []string
	for _, c := range found {
		names = append(names, Qualified(c))
	}
	slices.Sort(names)
	if unique := slices.Compact(slices.Clone(names)); len(unique) < len(names) {
		names = names[:0] // names do not tell them apart
		for _, c := range found {
			names = append(names, c.ID[:min(len(c.ID), 12)])
		}
		slices.Sort(names)
	}
	if len(names) > shown {
		return fmt.Sprintf("%s or %d others", strings.Join(names[:shown], ", "), len(names)-shown)
	}
	return strings.Join(names, " or ")
}

// Unknown is the error that no container is called name, with the nearest that there is.
func Unknown(all []sdk.Container, name string) error {
	if near := Nearest(all, name); near != "" {
		return fmt.Errorf("there is no container %q: did you mean %s?", name, near)
	}
	return fmt.Errorf("there is no container %q", name)
}

// Nearest returns the name of a container that was probably meant; "" when none is near.
func Nearest(all []sdk.Container, name string) string {
	var known []string
	for _, c := range all {
		known = append(known, nameOf(c))
		if c.DisplayName != "" {
			known = append(known, c.DisplayName)
		}
		if strings.Contains(name, "/") {
			known = append(known, Qualified(c))
		}
	}
	return option.Suggest(strings.TrimPrefix(name, "/"), known)
}
