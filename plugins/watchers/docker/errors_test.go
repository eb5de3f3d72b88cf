package docker

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/dogwatch/dogwatch/plugins/watchers/docker/enginesim"
	"github.com/dogwatch/dogwatch/sdk"
)

func TestListWithForbiddenImages(t *testing.T) {
	e := enginesim.New(enginesim.Config{APIVersion: "1.41"})
	check(t, e.Populate(2, func(i int) string { return fmt.Sprintf("ghcr.io/a/b:%d", i) }))
	for _, r := range []enginesim.Route{enginesim.ListImages, enginesim.InspectImage} {
		e.Fail(r, enginesim.Fault{Status: http.StatusForbidden})
	}
	d := watch(t, Options{Connection: Connection{Socket: serve(t, e)}})
	got := list(t, d)
	for _, c := range got {
		if c.Error == "" || !strings.Contains(c.Error, "IMAGES=1") || c.Image.Name != "a/b" ||
			c.Image.Host != "ghcr.io" || c.Image.Tag == "" || c.Status != "running" {
			t.Errorf("%+v", c)
		}
	}
	if n := e.Requests(enginesim.ListImages) + e.Requests(enginesim.InspectImage); len(got) != 2 || n != 1 {
		t.Errorf("%d containers, %d requests", len(got), n)
	}
	for _, r := range []enginesim.Route{enginesim.ListImages, enginesim.InspectImage} {
		e.Fail(r, enginesim.Fault{})
	}
	if c := list(t, d)["c0000"]; c.Error != "" || c.Image.Platform.Architecture != "amd64" {
		t.Errorf("after the proxy allows it: %+v", c)
	}
}

// One bad image must not spoil the others, and an engine that fails must not look like one with bad images.
func TestListWithMissingImages(t *testing.T) {
	e := enginesim.New(enginesim.Config{})
	check(t, e.Populate(3, func(i int) string { return fmt.Sprintf("app:%d", i) }))
	d := watch(t, Options{Connection: Connection{Socket: serve(t, e)}})
	e.Fail(enginesim.ListImages, enginesim.Fault{Status: http.StatusInternalServerError})
	got := list(t, d)
	if c := got["c0001"]; c.Error != "" || c.Image.Digest == "" {
		t.Errorf("without the list of images: %+v", c)
	}
	e.RemoveImage(got["c0001"].Image.ID)
	for _, fault := range []enginesim.Fault{{}, {Status: http.StatusInternalServerError}} {
		e.Fail(enginesim.ListImages, fault)
		got = list(t, d)
		if c := got["c0001"]; c.Error == "" || !strings.Contains(c.Error, "no longer in the engine") ||
			c.Image.Name != "app" || c.Image.Tag != "1" {
			t.Errorf("removed image: %+v", c)
		}
		if c := got["c0002"]; c.Error != "" || c.Image.Digest == "" || c.Image.Platform.OS != "linux" {
			t.Errorf("its neighbour: %+v", c)
		}
	}
	for _, gone := range []enginesim.Fault{{Truncate: true}, {Status: http.StatusServiceUnavailable}} {
		e.Fail(enginesim.ListImages, gone)
		if _, err := d.List(t.Context()); !errors.Is(err, sdk.ErrUnavailable) {
			t.Errorf("%+v: %v", gone, err)
		}
	}
}

func TestEngineErrors(t *testing.T) {
	e := enginesim.New(enginesim.Config{})
	check(t, e.Populate(1, func(int) string { return "app:1" }))
	address := serve(t, e)
	for name, c := range map[string]struct {
		route enginesim.Route
		fault enginesim.Fault
		kind  error
		text  string
	}{
		"ping forbidden": {enginesim.Ping, enginesim.Fault{Status: 403}, sdk.ErrUnauthorized,
			"forbidden (simulated fault): allow it in the socket proxy, with PING=1"},
		"ping missing": {enginesim.Ping, enginesim.Fault{Status: 404}, sdk.ErrNotFound,
			"something answers there, but it is not a Docker engine (404: simulated fault)"},
		"containers forbidden": {enginesim.ListContainers, enginesim.Fault{Status: 403}, sdk.ErrUnauthorized,
			"list containers: forbidden (simulated fault): allow it in the socket proxy, with CONTAINERS=1"},
		"unauthorized": {enginesim.ListContainers, enginesim.Fault{Status: 401}, sdk.ErrUnauthorized, "see certfile"},
		"failing": {enginesim.ListContainers, enginesim.Fault{Status: 500}, sdk.ErrUnavailable,
			"list containers: simulated fault"},
		"bad gateway": {enginesim.ListContainers, enginesim.Fault{Status: 502}, sdk.ErrUnavailable,
			"a proxy cannot reach the engine (simulated fault)"},
		"cut": {enginesim.ListContainers, enginesim.Fault{Truncate: true}, sdk.ErrUnavailable,
			"list containers: the answer was cut short"},
		"a web page": {enginesim.ListContainers, enginesim.Fault{Body: "<html>hello</html>"}, sdk.ErrUnavailable,
			"not the Docker API's"},
		"another document": {enginesim.ListContainers, enginesim.Fault{Body: `{"hello":1}`}, sdk.ErrUnavailable,
			"not the Docker API's"},
		"hanging": {enginesim.ListContainers, enginesim.Fault{Hang: true}, sdk.ErrUnavailable,
			"no answer within 50ms"},
		"hanging images": {enginesim.InspectImage, enginesim.Fault{Hang: true}, sdk.ErrUnavailable, "no answer within 50ms"},
		"hanging ping":   {enginesim.Ping, enginesim.Fault{Hang: true}, sdk.ErrUnavailable, "no answer within 50ms"},
	} {
		t.Run(name, func(t *testing.T) {
			d := watch(t, Options{Connection: Connection{Socket: address}})
			timeout := d.engine.Timeout
			if c.fault.Hang {
				d.engine.Timeout = 50 * time.Millisecond
			}
			e.Fail(c.route, c.fault)
			_, err := d.List(t.Context())
			e.Fail(c.route, enginesim.Fault{})
			explains(t, err, c.kind, address, c.text)
			d.engine.Timeout = timeout
			if got := list(t, d); len(got) != 1 {
				t.Errorf("afterwards %d containers", len(got))
			}
		})
	}
}

// explains checks an error's kind, and that it is one line with the address and the text once.
func explains(t *testing.T, err, kind error, address string, texts ...string) {
	t.Helper()
	if err == nil || !errors.Is(err, kind) {
		t.Fatalf("%v; want %v", err, kind)
	}
	message := err.Error()
	if strings.Count(message, address) != 1 || strings.Contains(message, "\n") ||
		!strings.HasPrefix(message, "docker engine at ") {
		t.Errorf("unclear: %s", message)
	}
	for _, text := range texts {
		if !strings.Contains(message, text) {
			t.Errorf("%s\nwant %s", message, text)
		}
	}
}

func TestListErrorWithoutEngine(t *testing.T) {
	dir := socketDir(t)
	_, err := watch(t, Options{Connection: Connection{Socket: dir + "/none.sock"}}).List(t.Context())
	explains(t, err, sdk.ErrUnavailable, dir, "no socket there", "mounted")

	s, err := enginesim.New(enginesim.Config{}).Listen("")
	check(t, err)
	check(t, s.Close())
	_, err = watch(t, Options{Connection: Connection{Socket: s.Address}}).List(t.Context())
	explains(t, err, sdk.ErrUnavailable, strings.TrimPrefix(s.Address, "tcp://"), "nothing listens there")

	_, err = watch(t, Options{Connection: Connection{Host: "engine.invalid"}}).List(t.Context())
	explains(t, err, sdk.ErrUnavailable, "http://engine.invalid:2375", "engine.invalid is not known: check host")
}

func TestListErrorOfOtherServers(t *testing.T) {
	page := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { fmt.Fprint(w, "<html>") }))
	t.Cleanup(page.Close)
	_, err := watch(t, Options{Connection: Connection{Host: page.URL}}).List(t.Context())
	explains(t, err, sdk.ErrUnavailable, page.URL, "no Docker Engine")

	old := enginesim.New(enginesim.Config{APIVersion: "1.18", MinAPIVersion: "1.12"})
	address := serve(t, old)
	_, err = watch(t, Options{Connection: Connection{Socket: address}}).List(t.Context())
	explains(t, err, sdk.ErrUnavailable, address, "API version 1.18 is older than 1.24")

	future := enginesim.New(enginesim.Config{APIVersion: "1.99", MinAPIVersion: "1.90"})
	address = serve(t, future)
	_, err = watch(t, Options{Connection: Connection{Socket: address}}).List(t.Context())
	explains(t, err, sdk.ErrUnavailable, address, "client version 1.51 is too old")
}

// An engine may be exchanged under a watcher that runs, for a newer or an older one.
func TestListNegotiatesVersionAgain(t *testing.T) {
	e := enginesim.New(enginesim.Config{APIVersion: "1.41"})
	check(t, e.Populate(1, func(int) string { return "app:1" }))
	d := watch(t, Options{Connection: Connection{Socket: serve(t, e)}})
	for _, versions := range [][2]string{{"1.41", "1.24"}, {"1.52", "1.44"}, {"1.43", "1.24"}} {
		e.SetAPIVersion(versions[0], versions[1])
		if got := list(t, d); len(got) != 1 {
			t.Errorf("%v: %d containers", versions, len(got))
		}
	}
}

func TestListIsCancelled(t *testing.T) {
	e := enginesim.New(enginesim.Config{})
	e.Fail(enginesim.ListContainers, enginesim.Fault{Hang: true})
	d := watch(t, Options{Connection: Connection{Socket: serve(t, e)}})
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan error)
	go func() {
		_, err := d.List(ctx)
		ended <- err
	}()
	cancel()
	if err := <-ended; !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
}

func TestListWithMalformedContainers(t *testing.T) {
	bodies := map[string]string{
		"null":           `null`,
		"empty":          `[]`,
		"null container": `[null]`,
		"bare":           `[{"Id":"` + hexA + `"}]`,
		"bad reference": `[{"Id":"` + hexA + `","Names":["/x"],"Image":"Not A Name","ImageID":"sha256:` + hexB +
			`","State":"running"}]`,
	}
	for name, body := range bodies {
		t.Run(name, func(t *testing.T) {
			e := enginesim.New(enginesim.Config{})
			e.Fail(enginesim.ListContainers, enginesim.Fault{Body: body})
			got, err := watch(t, Options{Connection: Connection{Socket: serve(t, e)}}).List(t.Context())
			check(t, err)
			for _, c := range got {
				if c.ID == "" || c.Name == "" || c.Error == "" {
					t.Errorf("%+v", c)
				}
			}
			if name == "bad reference" &&
				(len(got) != 1 || got[0].Image.Name != "Not A Name" ||
					!strings.Contains(got[0].Error, `"Not A Name" is not an image reference`)) {
				t.Errorf("%+v", got)
			}
		})
	}
}
