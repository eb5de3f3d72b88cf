package docker

import (
	"bytes"
	"context"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"time"

	"github.com/docker/docker/api/types/container"
	"github.com/docker/docker/client"

	"github.com/dogwatch/dogwatch/sdk"
	"github.com/dogwatch/dogwatch/sdk/watcher"
)

// change is a request that may change something.
type change struct {
	method, path string
	version      string // of the API; "" for the negotiated one
	query        url.Values
	header       http.Header
	in, out      any           // JSON; nil for none. An out that is an io.Writer takes the response as it is
	content      []byte        // instead of in: a tar archive
	limit        time.Duration // 0 for that of the engine
}

// change sends a request. That something is so already (304) is no error. The client
// library is not used: it would change what is sent, such as the names of capabilities.
func (e *engine) change(ctx context.Context, op operation, c change) error {
	if c.limit == 0 {
		c.limit = e.timeout
	}
	limited, cancel := context.WithTimeout(ctx, c.limit)
	defer cancel()
	response, err := attempt(limited, e, func(api *client.Client) (*http.Response, error) {
		return e.send(limited, api, c)
	})
	if err == nil {
		defer response.Body.Close()
		switch out := c.out.(type) {
		case nil:
			_, err = io.Copy(io.Discard, response.Body)
		case io.Writer:
			_, err = io.Copy(out, response.Body)
		default:
			err = json.NewDecoder(response.Body).Decode(out)
		}
	}
	var f *failure
	switch {
	case errors.As(err, &f) && f.status == http.StatusNotModified, err == nil:
		return nil
	case ctx.Err() != nil:
		return fmt.Errorf("docker engine at %s: %s: %w", e.at, op.what, context.Cause(ctx))
	case limited.Err() != nil:
		err = tooLate(c.limit)
	}
	return e.explain(op, err)
}

func (e *engine) send(ctx context.Context, api *client.Client, c change) (*http.Response, error) {
	var body io.Reader
	if c.in != nil {
		text, err := json.Marshal(c.in)
		if err != nil {
			return nil, err
		}
		body = bytes.NewReader(text)
	}
	if c.content != nil {
		body = bytes.NewReader(c.content)
	}
	version := c.version
	if version == "" {
		version = api.ClientVersion()
	}
	request, err := http.NewRequestWithContext(ctx, c.method, e.url(version, c.path), body)
	if err != nil {
		return nil, err
	}
	request.URL.RawQuery = c.query.Encode()
	for name, values := range c.header {
		request.Header[name] = values
	}
	request.Header.Set("User-Agent", e.userAgent)
	if c.in != nil {
		request.Header.Set("Content-Type", "application/json")
	}
	if c.content != nil {
		request.Header.Set("Content-Type", "application/x-tar")
	}
	return e.transport.RoundTrip(request)
}

const (
	// changeLimit bounds the requests that create, start and remove containers.
	changeLimit = 2 * time.Minute
	// pullLimit bounds a pull as a whole, pullSilence the time in which the engine says nothing of it.
	pullLimit   = 2 * time.Hour
	pullSilence = time.Minute
	// progressPause is the least time between two reports of progress.
	progressPause = 250 * time.Millisecond
)

// post changes a container.
func (e *engine) post(ctx context.Context, what, path string, values url.Values, in, out any) error {
	return e.change(ctx, operation{what, "POST"}, change{
		method: http.MethodPost, path: path, query: values, in: in, out: out, limit: changeLimit,
	})
}

// stop stops a container, which may take limit.
func (e *engine) stop(ctx context.Context, name, id string, limit time.Duration) error {
	return e.change(ctx, operation{"stop " + name, "POST"},
		change{method: http.MethodPost, path: "/containers/" + id + "/stop", limit: limit})
}

// startMissing requests to start a container that does not exist: what refuses the request takes no changes.
func (e *engine) startMissing(ctx context.Context) error {
	return e.change(ctx, operation{"check for permission", "POST"}, change{
		method: http.MethodPost, path: "/containers/dogwatch-permission-check/start",
	})
}

// exec describes a command that runs, or ran, in a container.
func (e *engine) exec(ctx context.Context, what, id string) (state container.ExecInspect, err error) {
	err = e.change(ctx, operation{"inspect " + what, "EXEC"}, change{
		method: http.MethodGet, path: "/exec/" + id + "/json", out: &state,
	})
	return state, err
}

func (e *engine) removeImage(ctx context.Context, id string) error {
	return e.change(ctx, operation{"remove image " + short(id), "DELETE"}, change{
		method: http.MethodDelete, path: "/images/" + id, limit: changeLimit,
	})
}

// remove removes a container, and with volumes those without a name that only it uses.
// That it does not exist is no error.
func (e *engine) remove(ctx context.Context, id string, force, volumes bool) error {
	values := url.Values{}
	if force {
		values.Set("force", "1")
	}
	if volumes {
		values.Set("v", "1")
	}
	err := e.change(ctx, operation{"remove container " + short(id), "DELETE"}, change{
		method: http.MethodDelete, path: "/containers/" + id, query: values, limit: changeLimit,
	})
	if hasStatus(err, http.StatusNotFound) {
		return nil
	}
	return err
}

// pull pulls repository@digest. The stream says "200 OK" before anything is known;
// what went wrong is inside of it.
func (e *engine) pull(
	ctx context.Context, repository, digest string, credentials sdk.Credentials, progress func(watcher.StepProgress),
) error {
	op := operation{"pull " + repository + "@" + digest, "IMAGES and POST"}
	header := http.Header{}
	if credentials != (sdk.Credentials{}) {
		text, err := json.Marshal(map[string]string{"username": credentials.Username, "password": credentials.Password})
		if err != nil {
			return err
		}
		header.Set("X-Registry-Auth", base64.URLEncoding.EncodeToString(text))
	}
	limited, cancel := context.WithTimeout(ctx, pullLimit)
	defer cancel()
	heard, end := context.WithCancelCause(limited)
	silent := &failure{text: fmt.Sprintf(
		"no progress for %s: the registry, or the way to it, stalls; the next try goes on with the layers that are "+
			"there",
		e.silence)}
	quiet := time.AfterFunc(e.silence, func() { end(silent) })
	defer quiet.Stop()
	failed := func(err error) error {
		if errors.Is(context.Cause(heard), silent) {
			err = silent
		}
		return e.explain(op, err)
	}
	response, err := attempt(heard, e, func(api *client.Client) (*http.Response, error) {
		return e.send(heard, api, change{
			method: http.MethodPost, path: "/images/create", query: query("fromImage", repository, "tag", digest),
			header: header,
		})
	})
	if err != nil {
		return failed(err)
	}
	defer response.Body.Close()
	if err := readPull(response.Body, func() { quiet.Reset(e.silence) }, progress); err != nil {
		return failed(err)
	}
	return nil
}

// readPull reads the stream of a pull to its end, and calls said for each message in it.
func readPull(stream io.Reader, said func(), progress func(watcher.StepProgress)) error {
	type amount struct{ Current, Total int64 }
	layers := map[string]amount{}
	var last time.Time
	for decoder := json.NewDecoder(stream); ; {
		var m struct {
			ID, Status, Error string
			ProgressDetail    amount
		}
		err := decoder.Decode(&m)
		switch {
		case errors.Is(err, io.EOF):
			return nil
		case err != nil:
			return err
		case m.Error != "":
			return &failure{text: m.Error}
		}
		said()
		if m.ProgressDetail.Total > 0 && m.Status == "Downloading" {
			layers[m.ID] = m.ProgressDetail
		}
		if time.Since(last) < progressPause {
			continue
		}
		last = time.Now()
		p := watcher.StepProgress{Message: m.Status}
		for _, l := range layers {
			p.Current, p.Total = p.Current+l.Current, p.Total+l.Total
		}
		progress(p)
	}
}
