package compose

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"slices"
	"strings"

	"github.com/dogwatch/dogwatch/internal/reference"
)

// Change replaces one text in one file. It holds nothing else of the file, so it
// may be stored as JSON before it is applied, and taken back after a crash.
type Change struct {
	File string
	// Real is the path of the file without symbolic links; "" where that is not known.
	Real string `json:",omitempty"`
	// Line and Offset are where the text stands; Line counts from 1.
	Line, Offset int
	Old, New     string
	// Variable is the variable of an env file that is changed; "" for a compose file.
	Variable string
	// BeforeSum and AfterSum are the SHA-256 of the whole file, in hexadecimal.
	BeforeSum, AfterSum string
	// Diff shows the changed line and hides what else stands on it, which may be secret.
	Diff string
}

// Empty reports whether the files name the new image already.
func (c Change) Empty() bool { return c.Old == c.New }

// Edit returns the change after which the files of a project give its service the
// image newRef, if they give it oldRef now. The name keeps its form ("nginx" stays
// short) and a digest is written only where there was one. It reads and writes
// nothing but through read, which is nil for ReadFile. Errors are of type *Error.
func Edit(p Project, oldRef, newRef string, read Reader) (Change, error) {
	if read == nil {
		read = ReadFile
	}
	f, err := load(p, read)
	if err != nil {
		return Change{}, err
	}
	v, err := loadVariables(p, read)
	if err != nil {
		return Change{}, err
	}
	e := editor{project: p, files: f, variables: v}
	if e.project.Service == "" {
		if e.project.Service, err = e.serviceOf(oldRef, newRef); err != nil {
			return Change{}, err
		}
	}
	if e.place, err = e.image(e.project.Service); err != nil {
		return Change{}, err
	}
	c, err := e.change(oldRef, newRef)
	if err != nil || c.Empty() {
		return c, err
	}
	return c, e.verify(c, read)
}

// editor makes one change.
type editor struct {
	project   Project
	files     *files
	variables *variables
	place     place // of the image
}

// image returns where a service has its image.
func (e *editor) image(service string) (place, error) {
	first := e.project.Files[0]
	def, err := e.files.service(service)
	switch {
	case err != nil:
		return place{}, err
	case e.files.budget < 0:
		return place{}, refuse(YAMLInvalid, first, 0, "the aliases of this document lead to too many places")
	case !def.found && e.files.includes():
		return place{},
			refuse(IncludeUnsupported, first, 0,
				"the service %s may be in a file that is included: name that file by the label %s", service, LabelFile)
	case !def.found:
		return place{},
			refuse(ServiceUnknown, first, 0,
				"there is no service %s: mount the files that the container was started from", service)
	case def.build:
		return place{}, refuse(BuildOnly, first, 0, "the image of %s is built here: build it anew", service)
	case def.image.node == nil:
		return place{}, refuse(ImageMissing, first, 0, "the service %s names no image", service)
	}
	return def.image, nil
}

// serviceOf returns the one service that has an image.
func (e *editor) serviceOf(refs ...string) (string, error) {
	var found []string
	for _, name := range e.files.services() {
		def, err := e.files.service(name)
		if err != nil || def.image.node == nil {
			continue
		}
		text, _, err := e.resolve(def.image)
		if err == nil && slices.ContainsFunc(refs, func(ref string) bool { return sameImage(text, ref) }) {
			found = append(found, name)
		}
	}
	switch len(found) {
	case 0:
		return "", refuse(ServiceUnknown, e.project.Files[0], 0, "no service has the image %s", refs[0])
	case 1:
		return found[0], nil
	}
	return "",
		refuse(ServiceAmbiguous, e.project.Files[0], 0,
			"the services %s have the image %s: start the container with Compose, so that it says which it is",
			strings.Join(found, ", "), refs[0])
}

// change returns the change of the one text that makes the image newRef.
func (e *editor) change(oldRef, newRef string) (Change, error) {
	doc, node := e.place.doc, e.place.node
	text, values, err := e.resolve(e.place)
	if err != nil {
		return Change{}, err
	}
	wanted, problem := reform(text, newRef)
	switch {
	case problem != nil:
		problem.File, problem.Line = doc.path, node.Line
		return Change{}, problem
	case wanted == text:
		return Change{File: doc.path, Line: node.Line}, nil
	case !sameImage(text, oldRef):
		return Change{},
			refuse(ImageDiffers, doc.path, node.Line,
				"the file gives %s the image %s while the container runs %s: apply the file first, or correct it",
				e.project.Service, text, oldRef)
	}
	scalar, ok := doc.locate(node)
	raw := string(doc.data[scalar.from:scalar.to])
	if !ok || values != nil && raw != node.Value {
		return Change{},
			refuse(LayoutUnsupported, doc.path, node.Line,
				"the image of %s is written in a way that cannot be replaced in place: write it on one line, such as image: %s", e.project.Service, wanted)
	}
	if values == nil {
		return newChange(doc.path, doc.data, scalar.from, scalar.to, wanted, ""), nil
	}
	return e.changeSegment(scalar, raw, values, wanted)
}

// value is a segment with its value.
type value struct {
	segment
	text string
	// own is true if the text stands in the scalar, as a literal or as a default.
	own bool
}

// resolve returns the image that a scalar gives, and its segments if it has variables.
func (e *editor) resolve(p place) (string, []value, error) {
	text := strings.TrimRight(p.node.Value, "\n")
	if !strings.Contains(text, "$") {
		return text, nil, nil
	}
	parts, ok := segments(text)
	if !ok {
		return "", nil,
			refuse(VariableUnsupported, p.doc.path, p.node.Line,
				"the variables of this image cannot be followed: use $NAME, ${NAME} or ${NAME:-default}")
	}
	var all []value
	for _, s := range parts {
		v, set := e.variables.values[s.variable]
		one := value{segment: s, text: v.value}
		switch {
		case s.variable == "":
			one.text, one.own = text[s.from:s.to], true
		case s.takesFallback(v.value, set):
			one.text, one.own = text[s.fallback.from:s.fallback.to], true
		case !set && e.variables.absent != "":
			return "", nil,
				refuse(FileMissing, e.variables.absent, 0,
					"the variable %s is in this file, which is not there where Dogwatch runs: mount its directory", s.variable)
		case !set:
			return "", nil,
				refuse(VariableUnknown, p.doc.path, p.node.Line, "the variable %s has no value in %s: write it there",
					s.variable, strings.Join(e.project.EnvFiles, ", "))
		case !v.simple:
			return "", nil,
				refuse(VariableUnsupported, e.variables.paths[v.file], v.line,
					"the value of %s is interpolated or escaped: write it out", s.variable)
		}
		all = append(all, one)
	}
	var b strings.Builder
	for _, v := range all {
		b.WriteString(v.text)
	}
	return b.String(), all, nil
}

// changeSegment changes the one segment of a text that differs. What stands in the
// scalar itself comes first: it belongs to this service.
func (e *editor) changeSegment(scalar span, raw string, values []value, wanted string) (Change, error) {
	doc, line := e.place.doc, e.place.node.Line
	best, text := -1, ""
	prefix := ""
	for i, v := range values {
		suffix := ""
		for _, later := range values[i+1:] {
			suffix += later.text
		}
		fits := len(wanted) > len(prefix)+len(suffix) && strings.HasPrefix(wanted, prefix) &&
			strings.HasSuffix(wanted, suffix)
		if fits && (best < 0 || v.own || !values[best].own) {
			best, text = i, wanted[len(prefix):len(wanted)-len(suffix)]
		}
		prefix += v.text
	}
	if best < 0 {
		return Change{},
			refuse(VariableUnsupported, doc.path, line,
				"%s cannot be made from %s by changing one of its parts: change them by hand", wanted, raw)
	}
	v := values[best]
	if v.own {
		from, to := v.from, v.to
		if v.variable != "" {
			from, to = v.fallback.from, v.fallback.to
		}
		return newChange(doc.path, doc.data, scalar.from+from, scalar.from+to, text, ""), nil
	}
	if err := e.exclusive(v.variable, values); err != nil {
		return Change{}, err
	}
	s := e.variables.values[v.variable]
	return newChange(e.variables.paths[s.file], e.variables.data[s.file], s.position.from, s.position.to, text,
		v.variable), nil
}

func newChange(file string, data []byte, from, to int, text, variable string) Change {
	c := Change{
		File: file, Offset: from, Old: string(data[from:to]), New: text, Variable: variable,
		Line: 1 + strings.Count(strings.ReplaceAll(string(data[:from]), "\r\n", "\n"), "\n"),
	}
	c.BeforeSum, c.AfterSum = sum(data), sum(c.after(data))
	c.Diff = diff(c, data)
	return c
}

// after returns the file with the change.
func (c Change) after(before []byte) []byte {
	return slices.Concat(before[:c.Offset], []byte(c.New), before[c.Offset+len(c.Old):])
}

func sum(data []byte) string {
	s := sha256.Sum256(data)
	return hex.EncodeToString(s[:])
}

// reform writes an image reference in the form of another one.
func reform(form, ref string) (string, *Error) {
	old, err := reference.Split(form)
	if err != nil {
		return "", refuse(ImageInvalid, "", 0, "%v", err)
	}
	target, err := reference.Split(ref)
	if err != nil {
		return "", refuse(ImageInvalid, "", 0, "%v", err)
	}
	changed := reference.Reference{Domain: old.Domain, Path: old.Path}
	if old.Canonical().Name() != target.Canonical().Name() {
		changed.Domain, changed.Path = target.Domain, target.Path
	}
	switch {
	case old.Tag == "" && (old.Digest != "" || target.Tag == "" || target.Tag == "latest"):
	case target.Tag == "" && target.Digest != "":
		changed.Tag = old.Tag
	case target.Tag == "":
		changed.Tag = "latest"
	default:
		changed.Tag = target.Tag
	}
	if old.Digest != "" {
		if target.Digest == "" {
			return "", refuse(DigestMissing, "", 0, "the image is pinned by a digest, and the digest of %s is not known", ref)
		}
		changed.Digest = target.Digest
	}
	return changed.String(), nil
}

// sameImage reports whether two references name the same image as far as both say.
func sameImage(a, b string) bool {
	x, err := reference.Parse(a)
	y, err2 := reference.Parse(b)
	if err != nil || err2 != nil || x.Name() != y.Name() {
		return false
	}
	for _, r := range []*reference.Reference{&x, &y} {
		if r.Tag == "" && r.Digest == "" {
			r.Tag = "latest"
		}
	}
	return (x.Tag == y.Tag || x.Tag == "" || y.Tag == "") && (x.Digest == y.Digest || x.Digest == "" || y.Digest == "")
}

func codeOf(err error) string {
	var coded *Error
	if errors.As(err, &coded) {
		return coded.Code
	}
	return ""
}

// EditText returns the change of an image that stands from one offset to another in a file, which need not be one of
// compose, as Edit does.
func EditText(file string, data []byte, from, to int, oldRef, newRef string) (Change, error) {
	text := string(data[from:to])
	line := 1 + strings.Count(string(data[:from]), "\n")
	wanted, problem := reform(text, newRef)
	switch {
	case problem != nil:
		problem.File, problem.Line = file, line
		return Change{}, problem
	case wanted == text:
		return Change{File: file, Line: line}, nil
	case !sameImage(text, oldRef):
		return Change{}, refuse(ImageDiffers, file, line,
			"the file has the image %s while the container runs %s: apply the file first, or correct it", text, oldRef)
	}
	return newChange(file, data, from, to, wanted, ""), nil
}
