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

// LastLines writes the end of what a container wrote, the standard error too, to a writer. With tty its streams
// are one.
func (e *Engine) LastLines(ctx context.Context, id string, lines int, tty bool, to io.Writer) error {
	op := endpointCall{"read the log of " + Short(id), "CONTAINERS"}
	return e.lastLines(ctx, op, "/containers/"+id, lines, tty, to)
}

func (e *Engine) lastLines(ctx context.Context, op endpointCall, path string, lines int, tty bool, to io.Writer) error {
	_, err := request(ctx, e, op, func(ctx context.Context, api *client.Client) (struct{}, error) {
		response, err := e.send(ctx, api, call{
			method: http.MethodGet, path: path + "/logs",
			query: Query("stdout", "1", "stderr", "1", "tail", strconv.Itoa(lines)),
		})
		if err != nil {
			return struct{}{}, err
		}
		defer response.Body.Close()
		if tty {
			_, err = io.Copy(to, response.Body)
		} else {
			_, err = stdcopy.StdCopy(to, to, response.Body)
		}
		if errors.Is(err, io.ErrUnexpectedEOF) {
			err = nil
		}
		return struct{}{}, err
	})
	return err
}

// Timestamped reads the end of what a container wrote: read gets the response, in which each message begins with when
// it was written. Without a terminal they are in frames, see package stdcopy.
func (e *Engine) Timestamped(ctx context.Context, id string, lines int, read func(io.Reader) error) error {
	op := endpointCall{"read the log of " + Short(id), "CONTAINERS"}
	return e.timestamped(ctx, op, "/containers/"+url.PathEscape(id), lines, read)
}

func (e *Engine) timestamped(
	ctx context.Context, op endpointCall, path string, lines int, read func(io.Reader) error,
) error {
	_, err := request(ctx, e, op, func(ctx context.Context, api *client.Client) (struct{}, error) {
		response, err := e.send(ctx, api, call{
			method: http.MethodGet, path: path + "/logs",
			query: Query("stdout", "1", "stderr", "1", "timestamps", "1", "tail", strconv.Itoa(lines)),
		})
		if err != nil {
			return struct{}{}, err
		}
		defer response.Body.Close()
		return struct{}{}, read(response.Body)
	})
	return err
}

// Logs returns what a container wrote to its standard output.
func (e *Engine) Logs(ctx context.Context, name string) ([]byte, error) {
	const most = 8 << 20
	return request(ctx, e, endpointCall{"read the log of " + name, "CONTAINERS"},
		func(ctx context.Context, api *client.Client) ([]byte, error) {
			response, err := e.send(ctx, api, call{
				method: http.MethodGet, path: "/containers/" + url.PathEscape(name) + "/logs", query: Query("stdout", "1"),
			})
			if err != nil {
				return nil, err
			}
			defer response.Body.Close()
			var out bytes.Buffer
			_, err = stdcopy.StdCopy(&out, io.Discard, io.LimitReader(response.Body, most))
			if errors.Is(err, io.ErrUnexpectedEOF) {
				err = nil
			}
			return out.Bytes(), err
		})
}
