package main

import (
	"bytes"
	"cmp"
	"encoding/json"
	"fmt"
	"path"
	"strings"

	"github.com/dogwatch/dogwatch/sdk"
	"github.com/dogwatch/dogwatch/sdk/watcher"
)

// maxItems bounds a list.
const maxItems = 10_000

// item is an entry of a list.
type item struct {
	name, reference, version string
	labels                   map[string]string
}

// parse reads a list. One that does not begin as JSON is lines of text: an image
// reference, or a name and an image reference.
func (l *list) parse(text []byte) ([]item, error) {
	text = bytes.TrimSpace(bytes.TrimPrefix(text, []byte("\ufeff")))
	var items []item
	if len(text) > 0 && (text[0] == '[' || text[0] == '{') {
		var document any
		if err := json.Unmarshal(text, &document); err != nil {
			return nil, unreadable(fmt.Errorf("the list is not JSON: %w", err))
		}
		array, ok := at(document, l.Items).([]any)
		if !ok {
			return nil, unreadable(fmt.Errorf("the list has no array at items %q", l.Items))
		}
		for _, entry := range array {
			items = append(items, l.item(entry))
		}
	} else {
		for line := range strings.Lines(string(text)) {
			line, _, _ = strings.Cut(line, "#")
			if name, reference, two := strings.Cut(strings.TrimSpace(line), " "); two {
				items = append(items, item{name: name, reference: strings.TrimSpace(reference)})
			} else if name != "" {
				items = append(items, item{reference: name})
			}
		}
	}
	if len(items) > maxItems {
		return nil, unreadable(fmt.Errorf("the list has %d items, more than %d", len(items), maxItems))
	}
	return items, nil
}

// unreadable is the error of a list that is there and makes no sense, perhaps
// since it is being written: what was known stays known.
func unreadable(err error) error { return sdk.WithKind(sdk.ErrUnavailable, err) }

// item reads an entry of a list in JSON: a reference, or an object.
func (l *list) item(entry any) item {
	if reference, ok := entry.(string); ok {
		return item{reference: reference}
	}
	var i item
	i.reference, _ = at(entry, l.Image).(string)
	i.name, _ = at(entry, l.Name).(string)
	if l.Version != "" {
		i.version, _ = at(entry, l.Version).(string)
	}
	labels, _ := at(entry, l.Labels).(map[string]any)
	for key, value := range labels {
		if i.labels == nil {
			i.labels = map[string]string{}
		}
		i.labels[key] = fmt.Sprint(value)
	}
	return i
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

// container describes the item at a place in the list, which begins with 1.
func (l *list) container(place int, i item) watcher.Container {
	c := watcher.Container{Name: strings.TrimLeft(i.name, "/"), Status: "running", Labels: i.labels}
	image, err := watcher.ParseImage(i.reference)
	if err != nil {
		c.Name, c.Error = cmp.Or(c.Name, fmt.Sprintf("item-%d", place)), fmt.Sprintf("item %d of the list: %v", place, err)
		return c
	}
	c.Name, image.Tag, image.Platform = cmp.Or(c.Name, path.Base(image.Name)), cmp.Or(i.version, image.Tag), l.platform
	c.Image = image
	return c
}
