package engine

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"time"

	"github.com/docker/docker/client"

	"github.com/dogwatch/dogwatch/sdk"
	"github.com/dogwatch/dogwatch/sdk/watcher"
)

const (
	// pullLimit bounds a pull as a whole, pullSilence the time in which the engine says nothing of it.
	pullLimit   = 2 * time.Hour
	pullSilence = time.Minute
	// progressPause is the least time between two reports of progress.
	progressPause = 250 * time.Millisecond
)

// Pull pulls repository@digest. The stream says "200 OK" before anything is known;
// what went wrong is inside of it.
func (e *Engine) Pull(
	ctx context.Context, repository, digest string, credentials sdk.Credentials, progress func(watcher.StepProgress),
) error {
	op := endpointCall{"pull " + repository + "@" + digest, "IMAGES and POST"}
	header, err := registryAuth(credentials)
	if err != nil {
		return err
	}
	limited, cancel := context.WithTimeout(ctx, pullLimit)
	defer cancel()
	waiting, end := context.WithCancelCause(limited)
	silent := &failure{text: fmt.Sprintf(
		"no progress for %s: the registry, or the way to it, stalls; the next try goes on with the layers that are "+
			"there",
		e.PullSilence)}
	quiet := time.AfterFunc(e.PullSilence, func() { end(silent) })
	defer quiet.Stop()
	failed := func(err error) error {
		if errors.Is(context.Cause(waiting), silent) {
			err = silent
		}
		return e.explain(op, err)
	}
	response, err := attempt(waiting, e, func(api *client.Client) (*http.Response, error) {
		return e.send(waiting, api, call{
			method: http.MethodPost, path: "/images/create", query: Query("fromImage", repository, "tag", digest),
			header: header,
		})
	})
	if err != nil {
		return failed(err)
	}
	defer response.Body.Close()
	if err := readPull(response.Body, func() { quiet.Reset(e.PullSilence) }, progress); err != nil {
		return failed(err)
	}
	return nil
}

// readPull reads the stream of a pull to its end, and calls received for each message in it.
func readPull(stream io.Reader, received func(), progress func(watcher.StepProgress)) error {
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
		received()
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
