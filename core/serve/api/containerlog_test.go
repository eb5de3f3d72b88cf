package api

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/dogwatch/dogwatch/core/serve/service"
	"github.com/dogwatch/dogwatch/sdk"
	"github.com/dogwatch/dogwatch/sdk/watcher"
)

// fakeLogs is a watcher that reads logs.
type fakeLogs struct {
	can, may, forbidden bool
	log                 watcher.Log
	err                 error
	asked               watcher.LogRequest
}

func (f *fakeLogs) LogReader(name string) (service.LogReader, bool) { return f, name == "local" }
func (f *fakeLogs) CanReadLogs() bool                               { return f.can }
func (f *fakeLogs) LogsMissing() (string, bool) {
	if f.may {
		return "", f.forbidden
	}
	return "DOGWATCH_WATCHER_LOCAL_LOGS", f.forbidden
}
func (f *fakeLogs) ReadLog(_ context.Context, req watcher.LogRequest) (watcher.Log, error) {
	f.asked = req
	return f.log, f.err
}

func withLogs(t *testing.T, f *fakeLogs) *testServer {
	w := start(t, nil, func(o *testOptions) { o.app.Logs = f })
	w.put(nginx())
	return w
}

func TestContainerLog(t *testing.T) {
	f := &fakeLogs{can: true, may: true}
	w := withLogs(t, f)
	path := "/api/containers/" + nginx().ID + "/log"
	same(t, "an empty log", w.get(path).want(200).list(), []map[string]any{})
	if f.asked.Lines != 100 || f.asked.ContainerID != nginx().ID {
		t.Errorf("asked for %+v", f.asked)
	}
	f.log.Lines = []watcher.LogLine{
		{At: sdk.TimeOf(time.Unix(1, 0)), Text: "hello"}, {Text: "oops", Stderr: true},
	}
	same(t, "a log", w.get(path+"?lines=200").want(200).list(), []map[string]any{
		{"at": "1970-01-01T00:00:01.000Z", "stream": "stdout", "message": "hello"}, {"stream": "stderr", "message": "oops"},
	})
	if f.asked.Lines != 200 {
		t.Errorf("asked for %+v", f.asked)
	}
	for _, lines := range []string{"0", "201", "-1", "many"} {
		w.do("GET", path+"?lines="+lines, "").fails(400, "lines")
	}
	w.do("GET", path+"?line=1", "").fails(400, "did you mean lines")
	w.do("GET", "/api/containers/none/log", "").fails(404)
}

func TestContainerLogSaysWhyThereIsNone(t *testing.T) {
	for text, c := range map[string]struct {
		fake   fakeLogs
		status int
	}{
		"cannot read the logs":                                 {fakeLogs{may: true}, 409},
		"DOGWATCH_WATCHER_LOCAL_LOGS=true":                     {fakeLogs{can: true}, 403},
		"LOGS=true, and run dogwatch agent --logs on its host": {fakeLogs{can: true, forbidden: true}, 403},
		"containers: run dogwatch agent --logs on its host":    {fakeLogs{can: true, may: true, forbidden: true}, 403},
		"not at all":          {fakeLogs{can: true, may: true, err: sdk.WithKind(sdk.ErrUnsupported, errors.New("not at all"))}, 409},
		"the log driver none": {fakeLogs{can: true, may: true, log: watcher.Log{UnreadableDriver: "none"}}, 409},
		"removed":             {fakeLogs{can: true, may: true, err: sdk.WithKind(sdk.ErrNotFound, errors.New("it was removed"))}, 404},
		"no engine":           {fakeLogs{can: true, may: true, err: sdk.WithKind(sdk.ErrUnavailable, errors.New("no engine"))}, 502},
	} {
		withLogs(t, &c.fake).do("GET", "/api/containers/"+nginx().ID+"/log", "").fails(c.status, text)
	}
}

// TestContainerLogHasNoSecrets: those that the program knows are blanked, also in errors and over several lines.
func TestContainerLogHasNoSecrets(t *testing.T) {
	f := &fakeLogs{can: true, may: true}
	w := withLogs(t, f)
	w.redactor.Add("t0ps3cret", "key of\ntwo lines")
	f.log.Lines = []watcher.LogLine{{Text: "with t0ps3cret"}, {Text: "a key of"}, {Text: "two lines"}, {Text: "end"}}
	path := "/api/containers/" + nginx().ID + "/log"
	var got []string
	for _, line := range w.get(path).want(200).list() {
		text, _ := line["message"].(string)
		got = append(got, text)
	}
	if all := strings.Join(got, "|"); all != "with ***|***|***|end" {
		t.Errorf("got %s", all)
	}
	f.err = sdk.WithKind(sdk.ErrUnavailable, errors.New("no engine at t0ps3cret"))
	if r := w.do("GET", path, "").fails(502, "no engine at ***"); strings.Contains(string(r.body), "t0ps3cret") {
		t.Errorf("got %s", r.body)
	}
}
