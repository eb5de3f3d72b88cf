package enginesim_test

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"reflect"
	"strings"
	"testing"

	"github.com/dogwatch/dogwatch/plugins/watchers/docker/dockertest"
	"github.com/dogwatch/dogwatch/plugins/watchers/docker/enginesim"
)

// TestFidelity sends the same requests to a real engine and a simulated one: every
// field of the simulation is in the real response too, with a value of the same type.
func TestFidelity(t *testing.T) {
	genuine := dockertest.Start(t)
	realImage := genuine.Image(t, "app:1")
	genuine.Image(t, "") // listed in a form of its own
	realID := genuine.Run(t, "web", "app:1", map[string]string{"a": "b"})

	simulated := enginesim.New(enginesim.Config{APIVersion: "1.41"})
	image := simulated.AddImage(enginesim.Image{Tags: []string{"app:1"}})
	simulated.AddImage(enginesim.Image{})
	id, err := simulated.Create(enginesim.Container{Name: "web", Image: "app:1", Labels: map[string]string{"a": "b"}})
	check(t, err)
	server, err := simulated.Listen("")
	check(t, err)
	t.Cleanup(func() { check(t, server.Close()) })

	for name, paths := range map[string][2]string{
		"containers":    {"/containers/json?all=1", "/containers/json?all=1"},
		"container":     {"/containers/" + realID + "/json", "/containers/" + id + "/json"},
		"images":        {"/images/json", "/images/json"},
		"image":         {"/images/" + realImage + "/json", "/images/" + image + "/json"},
		"version":       {"/version", "/version"},
		"no container":  {"/containers/none/json", "/containers/none/json"},
		"no image":      {"/images/none/json", "/images/none/json"},
		"events":        {"/events?since=0&filters=" + url.QueryEscape(`{"type":["container"],"event":["create"]}`), "/events?since=0"},
		"ping":          {"/_ping", "/_ping"},
		"unknown route": {"/nothing", "/nothing"},
	} {
		t.Run(name, func(t *testing.T) {
			wantStatus, want := fetch(t, genuine.Host, paths[0])
			gotStatus, got := fetch(t, server.Address, paths[1])
			if gotStatus != wantStatus {
				t.Errorf("status %d, want %d", gotStatus, wantStatus)
			}
			compare(t, name, got, want)
		})
	}
	for _, version := range []string{"1.99", "1.1"} {
		wantStatus, _ := fetch(t, genuine.Host, "/v"+version+"/containers/json")
		gotStatus, _ := fetch(t, server.Address, "/v"+version+"/containers/json")
		if gotStatus != wantStatus {
			t.Errorf("version %s: status %d, want %d", version, gotStatus, wantStatus)
		}
	}
}

func check(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// fetch returns the status and the first document of the response.
func fetch(t *testing.T, host, path string) (int, any) {
	t.Helper()
	network, address, _ := strings.Cut(host, "://")
	transport := &http.Transport{DialContext: func(ctx context.Context, _, _ string) (net.Conn, error) {
		return new(net.Dialer).DialContext(ctx, network, address)
	}}
	defer transport.CloseIdleConnections()
	if !strings.HasPrefix(path, "/v") {
		path = "/v1.41" + path
	}
	response, err := (&http.Client{Transport: transport}).Get("http://engine" + path)
	check(t, err)
	defer response.Body.Close()
	line, err := bufio.NewReader(response.Body).ReadString('\n')
	if err != nil && err != io.EOF {
		t.Fatal(err)
	}
	var document any
	if json.Unmarshal([]byte(line), &document) != nil {
		document = line
	}
	return response.StatusCode, document
}

// compare checks that got has nothing that want has not, except in maps whose keys are data.
func compare(t *testing.T, path string, got, want any) {
	t.Helper()
	if got == nil || want == nil {
		return // either may be empty
	}
	if reflect.TypeOf(got) != reflect.TypeOf(want) {
		t.Errorf("%s is a %T, really a %T", path, got, want)
		return
	}
	switch got := got.(type) {
	case map[string]any:
		if strings.HasSuffix(path, "Labels") || strings.HasSuffix(path, "Attributes") {
			return
		}
		for key, value := range got {
			really, found := want.(map[string]any)[key]
			if !found {
				t.Errorf("%s.%s does not exist", path, key)
				continue
			}
			compare(t, path+"."+key, value, really)
		}
	case []any:
		if others := want.([]any); len(got) > 0 && len(others) > 0 {
			for i, value := range got {
				compare(t, fmt.Sprintf("%s[%d]", path, i), value, others[min(i, len(others)-1)])
			}
		}
	}
}
