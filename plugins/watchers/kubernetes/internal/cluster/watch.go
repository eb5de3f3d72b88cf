package cluster

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strconv"
	"time"
)

// The types of events in a watch; one of an object that is new to the selection is Added.
const (
	Added    = "ADDED"
	Modified = "MODIFIED"
	Deleted  = "DELETED"
	// Bookmark has nothing but the version up to which a watch has come: about one a minute, so that a watch in which
	// nothing happens can go on from there.
	Bookmark = "BOOKMARK"
	failed   = "ERROR"
)

// Stream is the events of a resource since a version.
type Stream struct {
	client   *Client
	resource Resource
	body     io.ReadCloser
	bounded  *io.LimitedReader
	decoder  *json.Decoder
}

// Watch requests the events of a resource since the version of a list, or of the last event. The server ends the stream
// after the time that it is to last, in whole seconds, or earlier. The stream must be closed. The error is ErrExpired
// where the server does not remember the version.
func (c *Client) Watch(ctx context.Context, r Resource, version string, lasting time.Duration) (*Stream, error) {
	query := r.query()
	query.Set("watch", "true")
	query.Set("allowWatchBookmarks", "true")
	query.Set("resourceVersion", version)
	query.Set("timeoutSeconds", strconv.Itoa(int(lasting.Seconds())))
	resp, err := c.get(ctx, "watch", r, query.Encode())
	if err != nil {
		return nil, err
	}
	bounded := &io.LimitedReader{R: resp.Body, N: maxEvent}
	return &Stream{
		client: c, resource: r, body: resp.Body, bounded: bounded, decoder: json.NewDecoder(bounded),
	}, nil
}

// Close ends the stream.
func (s *Stream) Close() error { return s.body.Close() }

// Next waits for the next event and returns its type and its object. The error is io.EOF at the end of the stream, and
// ErrExpired where the server does not remember what comes next.
func (s *Stream) Next() (string, *Object, error) {
	var event struct {
		Type   string          `json:"type"`
		Object json.RawMessage `json:"object"`
	}
	s.bounded.N = maxEvent // the decoder has read some of the next event already
	err := s.decoder.Decode(&event)
	switch {
	case errors.Is(err, io.ErrUnexpectedEOF) && s.bounded.N == 0:
		return "", nil, s.broken(fmt.Errorf("an event has more than %d bytes", maxEvent))
	case errors.Is(err, io.EOF):
		return "", nil, io.EOF
	case err != nil:
		return "", nil, s.broken(err)
	}
	if event.Type == failed {
		var failure status
		if err := json.Unmarshal(event.Object, &failure); err != nil {
			return "", nil, s.broken(err)
		}
		return "", nil, s.client.statusError("watch", s.resource, failure)
	}
	o := &Object{}
	if err := json.Unmarshal(event.Object, o); err != nil {
		return "", nil, s.broken(fmt.Errorf("an event cannot be read: %w", err))
	}
	return event.Type, o, nil
}

func (s *Stream) broken(err error) error { return s.client.unreachable("watch", s.resource, err) }

// CheckWatch opens a watch and closes it again, to find out whether a resource may be watched.
func (c *Client) CheckWatch(ctx context.Context, r Resource) error {
	s, err := c.Watch(ctx, r, "", time.Second)
	if err != nil {
		return err
	}
	return s.Close()
}
