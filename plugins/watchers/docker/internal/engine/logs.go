package engine

import (
	"bytes"
	"context"
	"errors"
	"io"
	"net/http"
	"net/url"
	"strconv"

	"github.com/docker/docker/client"
	"github.com/docker/docker/pkg/stdcopy"
)

// LogRequest says what is read of the log of a container, or of a task of a swarm.
type LogRequest struct {
	// Container or Task is the id, or name, of whose log it is.
	Container, Task string
	// Lines is how many lines are read, from the end; 0 for all.
	Lines int
	// OutputOnly leaves out the standard error. With Timestamps each message begins with when it was written.
	OutputOnly, Timestamps bool
}

// Log reads what a container wrote so far: read gets the response. Without a terminal the messages are in frames, see
// package stdcopy. A log that ends within one, as when the container is removed meanwhile, is no error.
func (e *Engine) Log(ctx context.Context, req LogRequest, read func(io.Reader) error) error {
	op := endpointCall{"read the log of " + Short(req.Container), "CONTAINERS"}
	path := "/containers/" + url.PathEscape(req.Container)
	if req.Task != "" {
		op, path = endpointCall{"read the log of task " + Short(req.Task), "TASKS"}, "/tasks/"+url.PathEscape(req.Task)
	}
	query := Query("stdout", "1")
	if !req.OutputOnly {
		query.Set("stderr", "1")
	}
	if req.Timestamps {
		query.Set("timestamps", "1")
	}
	if req.Lines > 0 {
		query.Set("tail", strconv.Itoa(req.Lines))
	}
	_, err := request(ctx, e, op, func(ctx context.Context, api *client.Client) (struct{}, error) {
		response, err := e.send(ctx, api, call{method: http.MethodGet, path: path + "/logs", query: query})
		if err != nil {
			return struct{}{}, err
		}
		defer response.Body.Close()
		if err = read(response.Body); errors.Is(err, io.ErrUnexpectedEOF) {
			err = nil
		}
		return struct{}{}, err
	})
	return err
}

// LastLines writes the end of a log to a writer. With tty its streams are one.
func (e *Engine) LastLines(ctx context.Context, req LogRequest, tty bool, to io.Writer) error {
	return e.Log(ctx, req, func(r io.Reader) (err error) {
		if tty {
			_, err = io.Copy(to, r)
		} else {
			_, err = stdcopy.StdCopy(to, to, r)
		}
		return err
	})
}

// Output returns what a container without a terminal wrote to its standard output.
func (e *Engine) Output(ctx context.Context, name string) ([]byte, error) {
	const most = 8 << 20
	var out bytes.Buffer
	err := e.Log(ctx, LogRequest{Container: name, OutputOnly: true}, func(r io.Reader) error {
		out.Reset()
		_, err := stdcopy.StdCopy(&out, io.Discard, io.LimitReader(r, most))
		return err
	})
	return out.Bytes(), err
}
