package api

import (
	"bytes"
	"compress/gzip"
	"fmt"
	"io"
	"net/http"
	"sync"
	"testing"
)

func TestEntityTags(t *testing.T) {
	w := start(t, nil)
	w.put(nginx())
	for _, path := range []string{"/api/containers", "/api/containers/" + nginx().ID, "/api/containers/",
		"/api/triggers", "/api/app", "/api/openapi.yaml", "/"} {
		first := w.get(path).want(200)
		tag := first.header.Get("ETag")
		if len(tag) < 5 || tag[:3] != `W/"` {
			t.Fatalf("%s has the tag %q", path, tag)
		}
		for _, known := range []string{tag, tag[2:], `"other", ` + tag, "*"} {
			got := w.get(path, "If-None-Match", known).want(304)
			if len(got.body) > 0 || got.header.Get("ETag") != tag {
				t.Errorf("%s: %q %v", path, got.body, got.header)
			}
			w.do("HEAD", path, "", "If-None-Match", known).want(304)
		}
		w.get(path, "If-None-Match", `W/"other"`).want(200)
	}
	tag := w.get("/api/containers").header.Get("ETag")
	w.do("POST", "/api/containers/watch", "", "If-None-Match", tag).want(200)
	w.get("/api/containers?name=nginx", "If-None-Match", tag).want(200)
	w.put(redis())
	if got := w.get("/api/containers", "If-None-Match", tag).want(200); got.header.Get("ETag") == tag {
		t.Error("the list has changed, its tag has not")
	}
	if h := w.get("/api/containers/none").want(404).header; h.Get("ETag") != "" {
		t.Errorf("an error has a tag: %v", h)
	}
}

func TestCompressedList(t *testing.T) {
	w := start(t, nil)
	w.put(nginx(), redis())
	unpack := func(a response) string {
		t.Helper()
		z, err := gzip.NewReader(bytes.NewReader(a.body))
		if err != nil {
			t.Fatal(err)
		}
		plain, err := io.ReadAll(z)
		if err != nil {
			t.Fatal(err)
		}
		return string(plain)
	}
	plain := w.get("/api/containers").want(200)
	same(t, "vary", plain.header.Get("Vary"), "Accept-Encoding")
	compressed := w.get("/api/containers", "Accept-Encoding", "gzip, deflate, br").want(200)
	same(t, "encoding", compressed.header.Get("Content-Encoding"), "gzip")
	same(t, "list", unpack(compressed), string(plain.body))
	w.get("/api/containers", "Accept-Encoding", "gzip", "If-None-Match", compressed.header.Get("ETag")).want(304)

}

func TestCompressedListFollowsTheStore(t *testing.T) {
	w := start(t, nil)
	h := newRouter(w.opt, t.Context())
	var wait sync.WaitGroup
	for i := range 8 {
		c := nginx()
		c.ID, c.Name = fmt.Sprint("id", i), fmt.Sprint("name", i)
		w.put(c)
		snapshot := w.store.Snapshot()
		for range 4 {
			var want bytes.Buffer
			if err := writeArray(&want, snapshot.All()); err != nil {
				t.Fatal(err)
			}
			wait.Go(func() {
				body, err := h.compressed.encode(snapshot)
				if err != nil {
					t.Error(err)
					return
				}
				z, err := gzip.NewReader(bytes.NewReader(body))
				if err != nil {
					t.Error(err)
					return
				}
				if plain, err := io.ReadAll(z); err != nil || !bytes.Equal(plain, want.Bytes()) {
					t.Errorf("%v: %s", err, plain)
				}
			})
		}
	}
	wait.Wait()
}

func TestAcceptsGzip(t *testing.T) {
	for header, want := range map[string]bool{
		"": false, "gzip": true, "GZIP": true, "gzip, deflate": true, "br;q=1.0, gzip;q=0.8": true, "gzip;q=0": false,
		"gzip; q=0.000": false, "gzip;q=0.001": true,
		"deflate": false, "identity": false, "xgzip": false, "*": false,
	} {
		r := request(t, "GET", "/")
		r.Header = http.Header{"Accept-Encoding": {header}}
		if got := acceptsGzip(r); got != want {
			t.Errorf("%q: %t", header, got)
		}
	}
}
