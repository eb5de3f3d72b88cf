package cluster

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strconv"
)

// listMetadata is that of a list.
type listMetadata struct {
	ResourceVersion string `json:"resourceVersion"`
	Continue        string `json:"continue"`
}

// List calls each with every object of a resource, and returns the version of the list, from which on Watch has what
// changes. It costs one request for every 500 objects, and reads them one after the other. What each has got counts
// only if there is no error; that is ErrExpired where the list has changed too much between two pages.
func (c *Client) List(ctx context.Context, r Resource, each func(*Object)) (version string, err error) {
	query := r.query()
	query.Set("limit", strconv.Itoa(pageSize))
	for {
		page, err := c.page(ctx, r, query.Encode(), each)
		if err != nil || page.Continue == "" {
			return page.ResourceVersion, err
		}
		if page.Continue == query.Get("continue") {
			return "", c.unreachable("list", r, errors.New("a page of the list comes again and again"))
		}
		query.Set("continue", page.Continue)
	}
}

// Check requests one object of a resource, to find out whether that may be listed.
func (c *Client) Check(ctx context.Context, r Resource) error {
	query := r.query()
	query.Set("limit", "1")
	_, err := c.page(ctx, r, query.Encode(), func(*Object) {})
	return err
}

// page requests one page of a list.
func (c *Client) page(ctx context.Context, r Resource, query string, each func(*Object)) (listMetadata, error) {
	ctx, cancel := context.WithTimeout(ctx, pageTimeout)
	defer cancel()
	resp, err := c.get(ctx, "list", r, query)
	if err != nil {
		return listMetadata{}, err
	}
	defer resp.Body.Close()
	metadata, err := readList(json.NewDecoder(io.LimitReader(resp.Body, maxPage)), each)
	if err != nil {
		return listMetadata{}, c.unreachable("list", r, err)
	}
	return metadata, nil
}

// readList reads the document of a list.
func readList(d *json.Decoder, each func(*Object)) (metadata listMetadata, err error) {
	if err := delimiter(d, '{'); err != nil {
		return metadata, err
	}
	hasItems := false
	for d.More() {
		key, err := d.Token()
		if err != nil {
			return metadata, err
		}
		switch key {
		case "metadata":
			err = d.Decode(&metadata)
		case "items":
			hasItems = true
			err = readItems(d, each)
		default:
			err = d.Decode(&json.RawMessage{})
		}
		if err != nil {
			return metadata, err
		}
	}
	if !hasItems {
		return metadata, errors.New("the answer is no list")
	}
	return metadata, delimiter(d, '}')
}

// readItems reads the objects of a list; null is a list without any.
func readItems(d *json.Decoder, each func(*Object)) error {
	token, err := d.Token()
	if err != nil || token == nil {
		return err
	}
	if token != json.Delim('[') {
		return errors.New("the items of the list are none")
	}
	for d.More() {
		var o Object
		if err := d.Decode(&o); err != nil {
			return err
		}
		each(&o)
	}
	return delimiter(d, ']')
}

// delimiter reads a bracket or brace.
func delimiter(d *json.Decoder, want json.Delim) error {
	got, err := d.Token()
	if err == nil && got != want {
		err = fmt.Errorf("the answer has %.40v where a list has %v", got, want)
	}
	return err
}
