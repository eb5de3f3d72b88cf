package engine

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strconv"
	"time"

	"github.com/docker/docker/api/types/container"
	"github.com/docker/docker/api/types/events"
	"github.com/docker/docker/api/types/filters"
	"github.com/docker/docker/client"
)

// Events opens the stream of the events of a kind of object ("container", "service") that have one of the actions,
// beginning with those since an instant of the engine's clock if that is not zero. The stream ends with ctx.
// The client library stops at the first event it cannot read, hence the plain request.
func (e *Engine) Events(ctx context.Context, kind string, since time.Time, actions []string) (io.ReadCloser, error) {
	// Only the wait for the response is limited, not the stream.
	ctx, cancel := context.WithCancelCause(ctx)
	limit := time.AfterFunc(e.Timeout, func() { cancel(context.DeadlineExceeded) })
	defer limit.Stop()
	open := func(api *client.Client) (io.ReadCloser, error) {
		args := filters.NewArgs(filters.Arg("type", kind))
		for _, action := range actions {
			args.Add("event", action)
		}
		wanted, err := filters.ToJSON(args)
		if err != nil {
			return nil, err
		}
		request, err := http.NewRequestWithContext(ctx, http.MethodGet, e.url(api.ClientVersion(), "/events"), nil)
		if err != nil {
			return nil, err
		}
		query := request.URL.Query()
		query.Set("filters", wanted)
		if !since.IsZero() {
			query.Set("since", timestamp(since))
		}
		request.URL.RawQuery = query.Encode()
		request.Header.Set("User-Agent", e.UserAgent)
		response, err := e.transport.RoundTrip(request)
		if err != nil {
			return nil, err
		}
		return response.Body, nil
	}
	body, err := attempt(ctx, e, open)
	if err != nil {
		if context.Cause(ctx) == context.DeadlineExceeded {
			err = context.DeadlineExceeded
		}
		cancel(nil)
		return nil, e.explain(readEvents, err)
	}
	return stream{body, func() { cancel(nil) }}, nil
}

// timestamp is an instant as engines take it: in seconds, with nanoseconds behind the point.
func timestamp(t time.Time) string { return fmt.Sprintf("%d.%09d", t.Unix(), t.Nanosecond()) }

// stream frees its context when it is closed.
type stream struct {
	io.ReadCloser
	cancel func()
}

func (s stream) Close() error {
	s.cancel()
	return s.ReadCloser.Close()
}

// LastEnd is when a container ended last between two instants, as the events that the engine remembers say;
// known is false where they do not.
func (e *Engine) LastEnd(ctx context.Context, id string, since, until time.Time) (last time.Time, known bool) {
	api, err := e.Connect(ctx)
	if err != nil {
		return last, false
	}
	ctx, cancel := context.WithTimeout(ctx, e.Timeout)
	defer cancel()
	messages, failed := api.Events(ctx, events.ListOptions{
		Since: since.Format(time.RFC3339Nano), Until: until.Format(time.RFC3339Nano),
		Filters: filters.NewArgs(filters.Arg("container", id), filters.Arg("event", "die")),
	})
	for {
		select {
		case m := <-messages:
			last, known = time.Unix(0, m.TimeNano), true
		case <-failed: // the end, too
			return last, known
		}
	}
}

// pastLimit bounds the requests for events that are over.
const pastLimit = 5 * time.Second

// LastExit is the exit code with which a container ended before its last start, as the events that the engine
// remembers say; known is false where they do not.
func (e *Engine) LastExit(ctx context.Context, c container.InspectResponse) (code int, known bool) {
	created, err := time.Parse(time.RFC3339Nano, c.Created)
	started, other := time.Parse(time.RFC3339Nano, c.State.StartedAt)
	wanted, third := filters.ToJSON(filters.NewArgs(filters.Arg("container", c.ID), filters.Arg("event", "die")))
	if errors.Join(err, other, third) != nil {
		return 0, false
	}
	ctx, cancel := context.WithTimeout(ctx, pastLimit)
	defer cancel()
	read := func(ctx context.Context, api *client.Client) (string, error) {
		response, err := e.send(ctx, api, call{
			method: http.MethodGet, path: "/events", // which end at once, since what is asked for is over
			query: Query("since", timestamp(created), "until", timestamp(started), "filters", wanted),
		})
		if err != nil {
			return "", err
		}
		defer response.Body.Close()
		last := ""
		for all := json.NewDecoder(response.Body); ; {
			var event struct {
				Actor struct{ Attributes map[string]string }
			}
			if err := all.Decode(&event); err != nil {
				return last, nil
			}
			last = event.Actor.Attributes["exitCode"]
		}
	}
	last, err := request(ctx, e, readEvents, read)
	if err != nil {
		return 0, false
	}
	code, err = strconv.Atoi(last)
	return code, err == nil
}
