// Package imagediff compares what two images give to containers that do not say
// otherwise. It is pure. Configurations come from the makers of images, which are not
// trusted: the texts of a Diff have no control characters and are bounded, as their number is.
package imagediff

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/dogwatch/dogwatch/internal/visible"
	"github.com/dogwatch/dogwatch/sdk"
)

const (
	// maxText is how many bytes of a value or a name are kept.
	maxText = 300
	// maxChanges is how many changes of one kind are kept.
	maxChanges = 100
)

// Diff is how one image differs from another.
type Diff struct {
	// Changes are the defaults that differ, by kind in the order of the kinds, then by name.
	Changes []Change `json:"changes"`
	// Omitted is how many further changes there are.
	Omitted int `json:"omitted,omitempty"`
	// Warnings say in words what may break a container.
	Warnings []Warning `json:"warnings"`
	Size     Size      `json:"size"`
	// Layers is nil where the layers of one image are not known.
	Layers *Layers `json:"layers,omitempty"`
}

// The kinds of changes.
const (
	User       = "user"
	Entrypoint = "entrypoint"
	Command    = "command"
	WorkingDir = "working directory"
	StopSignal = "stop signal"
	Health     = "health check"
	Platform   = "platform"
	Base       = "base image"
	Port       = "port"
	Volume     = "volume"
	Env        = "env"
	Label      = "label"
)

// Change is a default that differs; "" where an image has none.
type Change struct {
	Kind string `json:"kind"`
	// Name is which port, volume, variable or label; "" for kinds of which an image has one.
	Name   string `json:"name,omitempty"`
	Before string `json:"before,omitempty"`
	After  string `json:"after,omitempty"`
	// Added is true for what only the later image has, Gone for what only the earlier one has.
	Added bool `json:"added,omitempty"`
	Gone  bool `json:"gone,omitempty"`
}

// Title is the kind and the name: "env PATH", "user".
func (c Change) Title() string { return strings.TrimSpace(c.Kind + " " + c.Name) }

// Warning is a change that may break a container.
type Warning struct {
	// Code is stable: "image.user".
	Code string `json:"code"`
	Text string `json:"text"`
}

// Size is what all layers of the images take, compressed, in bytes; 0 when it is not known.
type Size struct {
	Before int64 `json:"before,omitempty"`
	After  int64 `json:"after,omitempty"`
}

// Layers say how much of the other image is there already.
type Layers struct {
	Before int `json:"before"`
	After  int `json:"after"`
	// Shared is how many layers of After are in Before too, Download the compressed size of the others in bytes.
	Shared   int   `json:"shared"`
	Download int64 `json:"download"`
}

// Compare returns how after differs from before.
func Compare(before, after sdk.ImageConfig) Diff {
	d := Diff{
		Size: Size{Before: before.Size, After: after.Size}, Layers: layers(before.Layers, after.Layers),
		Changes: []Change{}, Warnings: []Warning{},
	}
	one := func(kind, a, b string) { d.add(kind, single(a), single(b)) }
	one(User, before.User, after.User)
	one(Entrypoint, strings.Join(before.Entrypoint, " "), strings.Join(after.Entrypoint, " "))
	one(Command, strings.Join(before.Cmd, " "), strings.Join(after.Cmd, " "))
	one(WorkingDir, before.WorkingDir, after.WorkingDir)
	one(StopSignal, before.StopSignal, after.StopSignal)
	one(Health, strings.Join(before.Healthcheck, " "), strings.Join(after.Healthcheck, " "))
	one(Platform, platform(before.Platform), platform(after.Platform))
	one(Base, base(before), base(after))
	d.add(Port, set(before.ExposedPorts), set(after.ExposedPorts))
	d.add(Volume, set(before.Volumes), set(after.Volumes))
	d.add(Env, variables(before.Env), variables(after.Env))
	d.add(Label, before.Labels, after.Labels)
	d.warn(before, after)
	return d
}

// add adds the values of a kind that differ, by name.
func (d *Diff) add(kind string, before, after map[string]string) {
	names := maps.Clone(after)
	if names == nil {
		names = map[string]string{}
	}
	maps.Copy(names, before)
	kept := 0
	for _, name := range slices.Sorted(maps.Keys(names)) {
		a, was := before[name]
		b, remains := after[name]
		if was == remains && a == b {
			continue
		}
		if kept++; kept > maxChanges {
			d.Omitted++
			continue
		}
		d.Changes = append(d.Changes, Change{
			Kind: kind, Name: Text(name), Before: Text(a), After: Text(b), Added: !was, Gone: !remains,
		})
	}
}

// single is a value of which an image has one, by no name; nothing when it has none.
func single(value string) map[string]string {
	if value == "" {
		return nil
	}
	return map[string]string{"": value}
}

func set(names []string) map[string]string {
	all := make(map[string]string, len(names))
	for _, n := range names {
		all[n] = n
	}
	return all
}

func variables(env []string) map[string]string {
	all := make(map[string]string, len(env))
	for _, e := range env {
		name, value, _ := strings.Cut(e, "=")
		all[name] = value
	}
	return all
}

func platform(p sdk.Platform) string {
	var parts []string
	for _, part := range []string{p.OS, p.Architecture, p.Variant} {
		if part != "" {
			parts = append(parts, part)
		}
	}
	return strings.Join(parts, "/")
}

// baseLabel is the annotation, or label, that names the image on which another is built
// (OCI image specification, annotations.md).
const baseLabel = "org.opencontainers.image.base.name"

func base(c sdk.ImageConfig) string {
	if c.Base != "" {
		return c.Base
	}
	return c.Labels[baseLabel]
}

func layers(before, after []sdk.Layer) *Layers {
	if len(before) == 0 || len(after) == 0 {
		return nil
	}
	have := make(map[string]bool, len(before))
	for _, l := range before {
		have[l.Digest] = true
	}
	all := &Layers{Before: len(before), After: len(after)}
	for _, l := range after {
		if have[l.Digest] {
			all.Shared++
			continue
		}
		all.Download += l.Size
	}
	return all
}

// Text returns a text of an image as it can be shown: without control characters and
// invisible ones that change the direction of what follows, and cut to a length that a
// page and a terminal take.
func Text(text string) string {
	if len(text) > maxText {
		end := maxText
		for end > maxText-utf8.UTFMax && !utf8.RuneStart(text[end]) {
			end--
		}
		text = text[:end] + "…"
	}
	return strings.Map(func(r rune) rune {
		switch {
		case r == '\n' || r == '\t' || r == '\r':
			return ' '
		case visible.Hidden(r):
			return utf8.RuneError
		}
		return r
	}, strings.ToValidUTF8(text, string(utf8.RuneError)))
}

// quoted is a value in a sentence.
func quoted(text string) string { return fmt.Sprintf("%q", Text(text)) }
