package registrysim

import (
	"context"
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"reflect"
	"strings"
	"testing"

	"github.com/google/go-containerregistry/pkg/authn"
	"github.com/google/go-containerregistry/pkg/name"
	v1 "github.com/google/go-containerregistry/pkg/v1"
	"github.com/google/go-containerregistry/pkg/v1/remote"
)

// An independent client finds a chart where one was pushed.
func TestPushChart(t *testing.T) {
	r := New(Options{})
	r.Push("team/app", "1.0.0")
	r.PushChart("team/app", "2.0.0")
	s, err := r.Start()
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	for tag, want := range map[string]string{"1.0.0": typeConfig, "2.0.0": typeChart} {
		ref, err := name.ParseReference(s.Host + "/team/app:" + tag)
		if err != nil {
			t.Fatal(err)
		}
		image, err := remote.Image(ref, remote.WithContext(t.Context()))
		if err != nil {
			t.Fatal(err)
		}
		if m, err := image.Manifest(); err != nil || string(m.Config.MediaType) != want {
			t.Errorf("%s: %+v, %v", tag, m, err)
		}
	}
}

// An independent client finds valid images behind it.
func TestImagesAreValid(t *testing.T) {
	users := map[string]string{"ann": "s3cret"}
	for label, o := range map[string]Options{
		"open": {}, "basic": {Auth: Basic, Users: users}, "token": {Auth: Token, Users: users}, "paged": {PageSize: 2},
	} {
		t.Run(label, func(t *testing.T) {
			r := New(o)
			r.Push("team/app", "1.0.0", "1.1.0", "2.0.0", "latest", "edge")
			s, err := r.Start()
			if err != nil {
				t.Fatal(err)
			}
			defer s.Close()
			client := []remote.Option{remote.WithAuth(&authn.Basic{Username: "ann", Password: "s3cret"}),
				remote.WithContext(t.Context())}
			repo, err := name.NewRepository(s.Host + "/team/app")
			if err != nil {
				t.Fatal(err)
			}
			tags, err := remote.List(repo, client...)
			if err != nil || strings.Join(tags, " ") != "1.0.0 1.1.0 2.0.0 edge latest" {
				t.Errorf("tags %q, %v", tags, err)
			}
			want, _ := r.Image("team/app", "latest")
			for _, p := range want.Platforms {
				platform := v1.Platform{OS: p.Platform.OS, Architecture: p.Platform.Architecture, Variant: p.Platform.Variant}
				image, err := remote.Image(repo.Tag("latest"), append(client, remote.WithPlatform(platform))...)
				if err != nil {
					t.Fatal(err)
				}
				digest, _ := image.Digest()
				config, err := image.ConfigFile() // verifies its digest
				if err != nil || digest.String() != p.Digest || config.Architecture != p.Platform.Architecture ||
					!config.Created.Equal(p.Created) {
					t.Errorf("%v: %s, %+v, %v; want %+v", platform, digest, config, err, p)
				}
				layers, err := image.Layers()
				if err != nil || len(layers) != 2 {
					t.Fatalf("%d layers, %v", len(layers), err)
				}
				if _, err := layers[0].Compressed(); err != nil {
					t.Error(err)
				}
			}
		})
	}
}

func TestImagesAreDeterministic(t *testing.T) {
	var images []Image
	for range 2 {
		r := New(Options{})
		r.Push("a/b", "1", "2")
		r.Push("a/c", "1")
		image, ok := r.Image("a/c", "1")
		if !ok {
			t.Fatal("no image")
		}
		images = append(images, image)
		r.Push("a/c", "1")
		if again, _ := r.Image("a/c", "1"); again.Digest == image.Digest {
			t.Error("a push changes nothing")
		}
		r.Delete("a/c", "1")
		if _, ok := r.Image("a/c", "1"); ok {
			t.Error("deleted, and still there")
		}
	}
	if !reflect.DeepEqual(images[0], images[1]) {
		t.Errorf("%+v\n%+v", images[0], images[1])
	}
}

func get(r *Registry, path string, headers ...string) *httptest.ResponseRecorder {
	req := httptest.NewRequestWithContext(context.Background(), http.MethodGet, path, nil)
	for i := 0; i+1 < len(headers); i += 2 {
		req.Header.Set(headers[i], headers[i+1])
	}
	w := httptest.NewRecorder()
	r.ServeHTTP(w, req)
	return w
}

func TestTagsConditionalRequest(t *testing.T) {
	r := New(Options{ETags: true})
	r.Push("a/b", "1")
	first := get(r, "/v2/a/b/tags/list")
	if w := get(r, "/v2/a/b/tags/list", "If-None-Match", first.Header().Get("ETag")); w.Code != 304 || w.Body.Len() != 0 {
		t.Errorf("status %d, %q", w.Code, w.Body)
	}
	r.Push("a/b", "2")
	if w := get(r, "/v2/a/b/tags/list", "If-None-Match", first.Header().Get("ETag")); w.Code != 200 {
		t.Errorf("status %d after a push", w.Code)
	}
	if got := r.Counts(); got != (Counts{Total: 3, Tags: 3, NotModified: 1, MaxInFlight: 1}) {
		t.Errorf("%+v", got)
	}
}

func TestTokensAndScopes(t *testing.T) {
	private := func(repo string) bool { return repo == "p/p" }
	tests := []struct {
		scopes Scopes
		user   bool
		query  string
		status int
		reads  string // of "a/a a/b p/p"
	}{
		{AllScopes, false, "scope=repository:a/a:pull&scope=repository:a/b:pull&scope=repository:p/p:pull", 200, "a/a a/b"},
		{AllScopes, true, "scope=repository:p/p:pull", 200, "p/p"},
		{AllScopes, false, "scope=repository:a/a:push&scope=odd", 200, ""},
		{FirstScope, false, "scope=repository:a/a:pull&scope=repository:a/b:pull", 200, "a/a"},
		{OneScope, false, "scope=repository:a/a:pull&scope=repository:a/b:pull", 400, ""},
		{OneScope, false, "scope=repository:a/b:pull", 200, "a/b"},
		{EveryTarget, false, "", 200, "a/a a/b"},
		{EveryTarget, true, "", 200, "a/a a/b p/p"},
	}
	for _, test := range tests {
		r := New(Options{Auth: Token, Scopes: test.scopes, Private: private, Users: map[string]string{"ann": "s3cret"}})
		for _, repo := range []string{"a/a", "a/b", "p/p"} {
			r.Push(repo, "1")
		}
		var headers []string
		if test.user {
			headers = []string{"Authorization", "Basic YW5uOnMzY3JldA=="}
		}
		w := get(r, "/token?"+test.query, headers...)
		var response struct{ Token string }
		if err := json.Unmarshal(w.Body.Bytes(), &response); err != nil || w.Code != test.status {
			t.Errorf("%+v: status %d, %v", test, w.Code, err)
		}
		var reads []string
		for _, repo := range []string{"a/a", "a/b", "p/p"} {
			if get(r, "/v2/"+repo+"/tags/list", "Authorization", "Bearer "+response.Token).Code == 200 {
				reads = append(reads, repo)
			}
		}
		if got := strings.Join(reads, " "); got != test.reads {
			t.Errorf("%+v: reads %q", test, got)
		}
		r.ExpireTokens()
		if get(r, "/v2/a/a/tags/list", "Authorization", "Bearer "+response.Token).Code != 401 {
			t.Errorf("%+v: the token outlives its end", test)
		}
	}
	if w := get(New(Options{Auth: Token}), "/token", "Authorization", "Basic YW5uOnMzY3JldA=="); w.Code != 401 {
		t.Errorf("an unknown user gets %d", w.Code)
	}
}

func TestInjectedFaults(t *testing.T) {
	r := New(Options{})
	r.Push("a/b", "1")
	r.Inject(TagsRequest, 2, Status(418, "tea", "X-A", "b"))
	r.Inject(Any, 1, WebPage())
	var got []int
	for range 4 {
		got = append(got, get(r, "/v2/a/b/tags/list").Code)
	}
	if want := []int{418, 418, 200, 200}; !reflect.DeepEqual(got, want) {
		t.Errorf("responds %v, want %v", got, want)
	}
	if w := get(r, "/v2/a/b/manifests/none"); w.Code != 404 {
		t.Errorf("status %d", w.Code)
	}
}

// TestPinned: an image is found by its own digest, in its own repository, once it was looked at.
func TestPinned(t *testing.T) {
	r := New(Options{
		Size:   func(_ string, revision int) int64 { return int64(100 * revision) },
		Config: func(string, int) map[string]any { return map[string]any{"User": "app"} },
	})
	r.Push("a/b", "1", "2")
	want, _ := r.Image("a/b", "2")
	got, known := r.Pinned("a/b", want.Digest)
	if !known || !reflect.DeepEqual(got, want) {
		t.Errorf("%+v, %t", got, known)
	}
	if first := got.Platforms[0]; first.Size != 600 || first.Settings["User"] != "app" {
		t.Errorf("%+v", first)
	}
	for _, other := range [][2]string{{"a/c", want.Digest}, {"a/b", want.Platforms[0].Digest}, {"a/b", "sha256:00"}} {
		if _, known := r.Pinned(other[0], other[1]); known {
			t.Errorf("%v is an image", other)
		}
	}
}
