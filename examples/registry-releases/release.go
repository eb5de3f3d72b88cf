package main

import (
	"crypto/sha256"
	"encoding/json"
	"encoding/xml"
	"fmt"
	"regexp"
	"strings"
	"time"

	"github.com/dogwatch/dogwatch/sdk"
)

// release is a version of a project.
type release struct {
	tag, digest string
	published   sdk.Time
}

// address is where the newest releases of a project are, as many as a page of the service has.
func (r *releases) address(repository string) string {
	switch r.Format {
	case "github":
		return r.URL.JoinPath("repos", repository, "releases").String() + "?per_page=100"
	case "gitea":
		return r.URL.JoinPath("api/v1/repos", repository, "releases").String() + "?limit=50"
	}
	// The URL has the braces escaped in its path, and as they are in its query.
	replace := strings.NewReplacer("{repository}", repository, "%7Brepository%7D", repository)
	return replace.Replace(r.URL.String())
}

type atom struct {
	XMLName xml.Name `xml:"http://www.w3.org/2005/Atom feed"`
	Entries []struct {
		Title   string `xml:"title"`
		Updated string `xml:"updated"`
		Link    struct {
			Href string `xml:"href,attr"`
		} `xml:"link"`
	} `xml:"entry"`
}

func (r *releases) parse(text []byte) ([]release, error) {
	items, version, date := r.Items, r.Version, r.Date
	switch r.Format {
	case "atom":
		return r.parseAtom(text)
	case "github", "gitea":
		items, version, date = "", "tag_name", "published_at"
	}
	var document any
	if err := json.Unmarshal(text, &document); err != nil {
		return nil, fmt.Errorf("the answer is not JSON: %w", err)
	}
	array, ok := at(document, items).([]any)
	if !ok {
		return nil, fmt.Errorf("the answer has no array at items %q", items)
	}
	list := []release{} // nil stands for releases that are unchanged
	for _, item := range array {
		draft, _ := at(item, "draft").(bool)
		prerelease, _ := at(item, "prerelease").(bool)
		if draft || prerelease && !r.Prereleases {
			continue
		}
		name, ok := item.(string)
		if !ok {
			name, _ = at(item, version).(string)
		}
		published, _ := at(item, date).(string)
		var files []any // without their counters of downloads
		assets, _ := at(item, "assets").([]any)
		for _, asset := range assets {
			files = append(files, at(asset, "name"), at(asset, "size"), at(asset, "digest"), at(asset, "uuid"))
		}
		list = r.add(list, name, published, files)
	}
	return list, nil
}

func (r *releases) parseAtom(text []byte) ([]release, error) {
	var feed atom
	if err := xml.Unmarshal(text, &feed); err != nil {
		return nil, fmt.Errorf("the answer is no Atom feed: %w", err)
	}
	list := []release{}
	for _, e := range feed.Entries {
		name := e.Title
		// GitHub, Gitea and GitLab have titles that are free text, and the tag at the end of the link.
		if _, tag, found := strings.Cut(e.Link.Href, "/releases/"); found {
			name = strings.TrimPrefix(tag, "tag/")
		}
		list = r.add(list, name, e.Updated, nil)
	}
	return list, nil
}

// at returns what is at a path in a document of JSON; nil when there is nothing.
func at(document any, path string) any {
	if path == "" {
		return document
	}
	for key := range strings.SplitSeq(path, ".") {
		object, _ := document.(map[string]any)
		document = object[key]
	}
	return document
}

// tagForm is the grammar of the tags of images.
var tagForm = regexp.MustCompile(`^[A-Za-z0-9_][A-Za-z0-9_.-]{0,127}$`)

// add appends a release, unless its name holds no version. Its digest is another
// one when it was published anew, or with other files.
func (r *releases) add(list []release, name, published string, files []any) []release {
	match := r.pattern.FindStringSubmatch(name)
	if match == nil {
		return list
	}
	// a tag of an image has no build metadata
	name = strings.ReplaceAll(strings.TrimSpace(match[min(1, len(match)-1)]), "+", "-")
	if !tagForm.MatchString(name) {
		return list
	}
	text, _ := json.Marshal([]any{name, published, files}) // what came as JSON always has a JSON form
	at, _ := time.Parse(time.RFC3339, published)           // a date in another form is left out
	return append(list, release{
		tag: name, digest: fmt.Sprintf("sha256:%x", sha256.Sum256(text)), published: sdk.TimeOf(at),
	})
}
