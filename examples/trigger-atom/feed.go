package main

import (
	"cmp"
	"crypto/sha256"
	"encoding/xml"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/dogwatch/dogwatch/sdk"
	"github.com/dogwatch/dogwatch/sdk/trigger"
)

// feed is a document of the Atom Syndication Format (RFC 4287).
type feed struct {
	XMLName xml.Name `xml:"http://www.w3.org/2005/Atom feed"`
	ID      string   `xml:"id"`
	Title   string   `xml:"title"`
	Updated string   `xml:"updated"`
	Author  author   `xml:"author"`
	Links   []link   `xml:"link"`
	Entries []entry  `xml:"entry"`
}

type author struct {
	Name string `xml:"name"`
}

type link struct {
	Rel  string `xml:"rel,attr,omitempty"`
	Href string `xml:"href,attr"`
}

// entry is an update or an event. Its content is text, whatever names and labels say.
type entry struct {
	ID      string  `xml:"id"`
	Title   string  `xml:"title"`
	Updated string  `xml:"updated"`
	Links   []link  `xml:"link"`
	Content content `xml:"content"`
}

type content struct {
	Type string `xml:"type,attr"`
	Text string `xml:",chardata"`
}

// entriesOf are the entries of a delivery. They hold no rendered message, whose links may decide about updates.
func entriesOf(now time.Time, req trigger.Request) []entry {
	at := now.UTC().Format(time.RFC3339)
	if e := req.Event; e != nil {
		title := e.Type + ": " + cmp.Or(e.Container, e.Plugin, e.Watcher)
		text := []string{title}
		if e.From != "" || e.To != "" {
			text = append(text, e.From+" → "+e.To)
		}
		if e.Error != "" {
			text = append(text, e.Error)
		}
		return []entry{{
			ID: id("event", req.Delivery), Title: title, Updated: at, Content: content{"text", strings.Join(text, "\n")},
		}}
	}
	var all []entry
	for _, c := range req.Containers {
		all = append(all, entryOf(at, c, req.Test))
	}
	return all
}

func entryOf(at string, c sdk.Container, test bool) entry {
	name, image := c.Watcher+"/"+c.Name, c.Image.Registry.Host+"/"+c.Image.Name
	from, to := c.UpdateKind.LocalValue, c.UpdateKind.RemoteValue
	e := entry{
		ID: id("update", name, image, from, to), Updated: at, Title: fmt.Sprintf("%s: %s → %s", c.Name, from, to),
		Content: content{"text", fmt.Sprintf("%s runs %s %s, and %s is available.", name, image, from, to)},
	}
	if test {
		e.ID, e.Title = id("test"), "Test: "+e.Title
	}
	if c.Result != nil && webAddress(c.Result.Link) {
		e.Links = []link{{Rel: "alternate", Href: c.Result.Link}}
	}
	return e
}

// id returns the same name of what it is about whenever it is asked: a UUID of version 8 (RFC 9562, section 5.8).
func id(of ...string) string {
	sum := sha256.Sum256(fmt.Appendf(nil, "%q", of))
	sum[6], sum[8] = sum[6]&0x0f|0x80, sum[8]&0x3f|0x80
	return fmt.Sprintf("urn:uuid:%x-%x-%x-%x-%x", sum[:4], sum[4:6], sum[6:8], sum[8:10], sum[10:16])
}

func webAddress(text string) bool {
	u, err := url.Parse(text)
	return err == nil && (u.Scheme == "http" || u.Scheme == "https") && u.Host != ""
}

// maxFeed is the largest feed that is read, in bytes.
const maxFeed = 16 << 20

// read reads the feed, which is empty before the first entry.
func read(path string) (feed, error) {
	file, err := os.Open(path)
	if errors.Is(err, fs.ErrNotExist) {
		return feed{}, nil
	}
	if err != nil {
		return feed{}, err
	}
	defer file.Close()
	text, err := io.ReadAll(io.LimitReader(file, maxFeed))
	if err != nil || len(text) == 0 {
		return feed{}, err
	}
	var f feed
	if err := xml.Unmarshal(text, &f); err != nil {
		return feed{}, fmt.Errorf("%s is no feed of this plugin: name another file, or remove it", path)
	}
	return f, nil
}

// add puts entries at the beginning of the feed.
func (a *atom) add(fresh []entry) error {
	f, err := read(a.Path)
	if err != nil {
		return err
	}
	old := slices.DeleteFunc(f.Entries, func(o entry) bool {
		return slices.ContainsFunc(fresh, func(e entry) bool { return e.ID == o.ID })
	})
	f.Entries = append(slices.Clone(fresh), old...)
	f.Entries = f.Entries[:min(len(f.Entries), a.Keep)]
	f.ID, f.Title, f.Author.Name, f.Links = id("feed", a.Path), a.Title, "Dogwatch", nil
	f.Updated = a.now().UTC().Format(time.RFC3339)
	if a.URL != nil {
		f.ID, f.Links = a.URL.String(), []link{{Rel: "self", Href: a.URL.String()}}
	}
	text, err := xml.MarshalIndent(f, "", "  ")
	if err != nil {
		return err
	}
	return replace(a.Path, append([]byte(xml.Header), append(text, '\n')...))
}

// replace writes a file so that a reader sees the one before or this one.
func replace(path string, text []byte) (err error) {
	file, err := os.CreateTemp(filepath.Dir(path), ".atom-*")
	if err != nil {
		return err
	}
	defer func() {
		if err != nil {
			err = errors.Join(err, os.Remove(file.Name()))
		}
	}()
	_, err = file.Write(text)
	if err = errors.Join(err, file.Chmod(0o644), file.Sync(), file.Close()); err != nil {
		return err
	}
	return os.Rename(file.Name(), path)
}
