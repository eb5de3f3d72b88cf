// Package wudstore reads what What's Up Docker 8 and before left behind: the
// JSON file in which its embedded database, LokiJS, keeps the containers that it
// watched and what it had found for each. The file is only read.
//
// It is an object with a list of collections, each with a name and its records:
// "app" has one record with the version of the program, "containers" wraps each
// container, which has the fields of the HTTP interface, in a record's data, and
// "Sessions" has one record per login, which is never deleted, so that a file may
// be large for its few containers. Hence it is read as a stream.
package wudstore

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"strconv"
	"strings"

	"github.com/dogwatch/dogwatch/sdk"
)

const (
	maxSize       = 256 << 20 // bytes; minutes of reading begin there
	maxContainers = 10_000
	knownVersion  = 8
)

// The errors of Read that say why a file cannot be used. What is not there
// wraps fs.ErrNotExist.
var (
	// ErrDamaged: the file is cut short, or is no JSON at all.
	ErrDamaged = errors.New("damaged, or no JSON")
	// ErrForeign: the file is the JSON of something else.
	ErrForeign = errors.New("not the store of What's Up Docker")
	// ErrNewer: a later What's Up Docker wrote it.
	ErrNewer = errors.New("written by a later What's Up Docker than 8")
	// ErrHuge: the file is larger than any that What's Up Docker can live with.
	ErrHuge = errors.New("too large")
)

// Contents is what a file holds that is of use.
type Contents struct {
	// Version is that of the program that wrote it, as it says; "" when it does not.
	Version string
	// Containers are as Dogwatch would have stored them. Where UpdateAvailable is
	// true, users were notified of the update.
	Containers []sdk.Container
	// LeftOut is how many records were no container.
	LeftOut int
}

// Read reads the file at path.
func Read(path string) (Contents, error) {
	info, err := os.Stat(path)
	if err != nil {
		return Contents{}, err
	}
	switch {
	case !info.Mode().IsRegular():
		return Contents{}, fmt.Errorf("%s: %w: it is no file", path, ErrForeign)
	case info.Size() > maxSize:
		return Contents{},
			fmt.Errorf("%s: %w: it has %d MiB, and %d are the most that are read", path, ErrHuge, info.Size()>>20, maxSize>>20)
	}
	f, err := os.Open(path)
	if err != nil {
		return Contents{}, err
	}
	defer f.Close()
	found, err := parse(io.LimitReader(f, maxSize))
	if err != nil {
		return Contents{}, fmt.Errorf("%s: %w", path, err)
	}
	return found, nil
}

// parse reads the whole stream: one that ends too early gives nothing.
func parse(from io.Reader) (Contents, error) {
	r := reader{dec: json.NewDecoder(from)}
	r.dec.UseNumber()
	err := r.object(func(key string) error {
		if key == "collections" {
			return r.array(r.collection)
		}
		return r.skip()
	})
	if err == nil {
		if _, after := r.dec.Token(); !errors.Is(after, io.EOF) {
			err = ErrDamaged
		}
	}
	switch {
	case err != nil:
		return Contents{}, err
	case !r.known:
		return Contents{}, fmt.Errorf("%w: it has no collection of containers", ErrForeign)
	case newer(r.found.Version):
		return Contents{}, fmt.Errorf("%w: by %s", ErrNewer, r.found.Version)
	}
	return r.found, nil
}

// newer reports whether a version is one whose file may look different. What
// is no version, as that of a program built by hand, is taken for a known one.
func newer(version string) bool {
	major, _, _ := strings.Cut(strings.TrimPrefix(version, "v"), ".")
	n, err := strconv.Atoi(major)
	return err == nil && n > knownVersion
}

// reader goes through one file.
type reader struct {
	dec   *json.Decoder
	found Contents
	known bool // the collection of containers was there

	dropped json.RawMessage
}

// record is one of a collection: of app, or of containers.
type record struct {
	Version string     `json:"version"`
	Data    *container `json:"data"`
}

// collection reads one collection. What wrote the file puts the name first; a
// tool that sorted the keys puts it last.
func (r *reader) collection() error {
	var name string
	var records Contents
	err := r.object(func(key string) error {
		switch {
		case key == "name":
			return damaged(r.dec.Decode(&name))
		case key == "data" && (name == "" || name == "app" || name == "containers"):
			return r.array(func() error { return r.record(&records) })
		case key == "data":
			return r.array(r.drop)
		}
		return r.skip()
	})
	switch {
	case err != nil:
		return err
	case name == "app":
		r.found.Version = records.Version
	case name == "containers":
		r.known = true
		r.found.Containers, r.found.LeftOut = records.Containers, records.LeftOut
	}
	return nil
}

// drop reads one record of no interest, faster than skip.
func (r *reader) drop() error { return damaged(r.dec.Decode(&r.dropped)) }

// record reads one record. One of an unexpected form is left out, and spoils nothing else.
func (r *reader) record(into *Contents) error {
	var raw json.RawMessage
	if err := r.dec.Decode(&raw); err != nil {
		return damaged(err)
	}
	var read record
	switch err := json.Unmarshal(raw, &read); {
	case err != nil, read.Data != nil && !read.Data.complete():
		into.LeftOut++
	case read.Data == nil:
		into.Version = read.Version
	case len(into.Containers) == maxContainers:
		return fmt.Errorf("%w: it has more than %d containers", ErrHuge, maxContainers)
	default:
		into.Containers = append(into.Containers, read.Data.Container)
	}
	return nil
}

// object calls member for each key of an object, which has to read its value.
func (r *reader) object(member func(key string) error) error {
	if err := r.open('{'); err != nil {
		return err
	}
	for r.dec.More() {
		key, err := r.dec.Token()
		if err != nil {
			return damaged(err)
		}
		if err := member(fmt.Sprint(key)); err != nil {
			return err
		}
	}
	_, err := r.dec.Token()
	return damaged(err)
}

// array calls element for each value of an array, which has to read it.
func (r *reader) array(element func() error) error {
	if err := r.open('['); err != nil {
		return err
	}
	for r.dec.More() {
		if err := element(); err != nil {
			return err
		}
	}
	_, err := r.dec.Token()
	return damaged(err)
}

func (r *reader) open(want json.Delim) error {
	t, err := r.dec.Token()
	switch {
	case err != nil:
		return damaged(err)
	case t != want:
		return fmt.Errorf("%w: it is built differently", ErrForeign)
	}
	return nil
}

// skip reads one value and keeps nothing of it, however large it is.
func (r *reader) skip() error {
	for depth := 0; ; {
		t, err := r.dec.Token()
		if err != nil {
			return damaged(err)
		}
		switch t {
		case json.Delim('{'), json.Delim('['):
			depth++
		case json.Delim('}'), json.Delim(']'):
			depth--
		}
		if depth == 0 {
			return nil
		}
	}
}

// damaged says so, and not what is in the file: there are sessions in it.
func damaged(err error) error {
	if err == nil {
		return nil
	}
	var syntax *json.SyntaxError
	if errors.As(err, &syntax) {
		return fmt.Errorf("%w: at byte %d", ErrDamaged, syntax.Offset)
	}
	if errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
		return fmt.Errorf("%w: it ends too early", ErrDamaged)
	}
	var kind *json.UnmarshalTypeError
	if errors.As(err, &kind) {
		return fmt.Errorf("%w: it is built differently", ErrForeign)
	}
	return err
}
