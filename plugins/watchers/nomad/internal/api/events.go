package api

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"net/url"
	"strconv"
	"time"

	"github.com/dogwatch/dogwatch/sdk"
	"github.com/dogwatch/dogwatch/sdk/httpclient"
)

const (
	// silence is how long a stream may say nothing: it has a heartbeat every 10 seconds.
	silence = time.Minute
	// maxEvents bounds what a stream says at a time, in bytes.
	maxEvents = 8 << 20
	// maxStream bounds a stream as a whole, in bytes: it ends in time.
	maxStream = 1 << 40
)

// Event is that something about a job has changed.
type Event struct {
	Namespace, JobID string
	// Allocation is the state of the allocation that has changed: "running", "failed", …; "" where it is the job.
	Allocation string
}

// Stream is the events of a namespace. Its methods are called by one goroutine.
type Stream struct {
	ctx     context.Context
	host    string
	body    io.ReadCloser
	bounded *io.LimitedReader
	decoder *json.Decoder
	silent  *time.Timer
	stop    context.CancelFunc
}

// Events streams what changes of the jobs of a namespace, or of all for "*", from an index on. Of an index that the
// server does not remember it says nothing, and begins later: list the jobs after a stream that has ended. The stream
// must be closed. The error is an sdk.ErrUnauthorized where the token may not read it: for "*" that takes a policy for
// all namespaces.
func (c *Client) Events(ctx context.Context, namespace string, index uint64) (*Stream, error) {
	query := url.Values{"namespace": {namespace}, "topic": {"Job", "Allocation"}, "index": {strconv.FormatUint(index, 10)}}
	ctx, stop := context.WithTimeout(ctx, lasting-rand.N(lasting/5)) // many streams do not end at once
	silent := time.AfterFunc(silence, stop)
	resp, err := c.open(ctx, c.long, question{"v1/event/stream", query, "stream the events", readJob, namespace}, nil)
	if err != nil {
		silent.Stop()
		stop()
		return nil, err
	}
	httpclient.LimitBody(resp, maxStream)
	bounded := &io.LimitedReader{R: resp.Body, N: maxEvents}
	return &Stream{ctx, c.base.Host, resp.Body, bounded, json.NewDecoder(bounded), silent, stop}, nil
}

// Close ends the stream.
func (s *Stream) Close() error {
	s.silent.Stop()
	s.stop()
	return s.body.Close()
}

// Next waits for what the stream says next, and returns its events: none for a heartbeat. The error is io.EOF at its
// end.
func (s *Stream) Next() ([]Event, error) {
	var said struct {
		Events []struct {
			Topic, Key, Namespace string
			Payload               struct {
				Allocation struct{ JobID, ClientStatus string }
			}
		}
	}
	s.bounded.N = maxEvents // the decoder has read some of it already
	if err := s.decoder.Decode(&said); errors.Is(err, io.EOF) || errors.Is(s.ctx.Err(), context.DeadlineExceeded) {
		return nil, io.EOF
	} else if err != nil {
		return nil, sdk.WithKind(sdk.ErrUnavailable, fmt.Errorf("the events of Nomad at %s broke off: %w", s.host, err))
	}
	s.silent.Reset(silence)
	var all []Event
	for _, e := range said.Events {
		switch allocation := e.Payload.Allocation; e.Topic {
		case "Job":
			all = append(all, Event{Namespace: e.Namespace, JobID: e.Key})
		case "Allocation":
			all = append(all, Event{e.Namespace, allocation.JobID, allocation.ClientStatus})
		}
	}
	return all, nil
}
