package check

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/dogwatch/dogwatch/sdk"
	"github.com/dogwatch/dogwatch/sdk/watcher"
)

// secrets is what an engine pulls images with.
type secrets struct {
	of  map[string]watcher.PullCredentials
	err error
}

func (s secrets) PullCredentials(context.Context, []string) (map[string]watcher.PullCredentials, error) {
	return s.of, s.err
}

func pulledBy(password, host, source string) watcher.PullCredentials {
	return watcher.PullCredentials{
		Credentials: sdk.Credentials{Username: "ana", Password: password}, Host: host, Source: source,
	}
}

// TestPullSecretsAreForOneImage: the registry gets them with the requests about the image of a container that its
// engine pulls so, for the host that they are for. What it says to one says nothing to others.
func TestPullSecretsAreForOneImage(t *testing.T) {
	w := open(t)
	private := w.host("ghcr.io")
	w.hub.tags["library/nginx"] = []string{"1.25.0", "1.26.0"}
	private.tags["team/app"], private.stamps["team/app"] = []string{"1.0.0", "1.1.0"}, "e1"
	private.tags["team/base"] = []string{"1.0.0", "1.1.0"}
	private.refuses = func(c sdk.Credentials) error {
		if c.Password != "a-pass" {
			return sdk.WithKind(sdk.ErrUnauthorized, errors.New("who is there?"))
		}
		return nil
	}
	w.engine.has(
		container("one", "ghcr.io/team/app:1.0.0"), container("two", "ghcr.io/team/app:1.0.0"),
		container("three", "ghcr.io/team/app:1.0.0"), container("four", "ghcr.io/team/app:1.0.0"),
		container("hub", "nginx:1.25.0"), container("based", "nginx:1.25.0", "dogwatch.base=ghcr.io/team/base:1.0.0"))
	of := w.local()
	of.Pulls = secrets{of: map[string]watcher.PullCredentials{
		"id-one": pulledBy("a-pass", "ghcr.io", "secret media/team"), "id-two": pulledBy("a-pass", "ghcr.io", "secret media/team"),
		"id-three": pulledBy("wr0ng", "ghcr.io", "secret web/team"), // "id-four" has none
		"id-hub":   pulledBy("a-pass", "ghcr.io", "secret media/team"),
		"id-based": pulledBy("a-pass", "ghcr.io", "secret media/team"),
	}}
	for range 2 { // the second time, the registry says that the tags are those of the first
		if _, err := w.Run(t.Context(), of); err != nil {
			t.Fatal(err)
		}
		for name, want := range map[string]string{"one": "1.1.0", "two": "1.1.0", "three": "", "four": "", "hub": "1.26.0", "based": ""} {
			c, got := w.get("id-"+name), ""
			if c.Result != nil && c.UpdateAvailable {
				got = c.Result.Tag
			}
			if got != want || (want == "") != (c.Check.State == sdk.CheckFailed) {
				t.Errorf("%s: %q, want %q; %v", name, got, want, c.Error)
			}
		}
		if w.hub.lent > 0 {
			t.Error("Docker Hub got what is for another host")
		}
		// One request for those with the same credentials, and one each for the others and for the base image.
		if asked := private.requests(); len(asked) != 4 {
			t.Errorf("%d requests: %q", len(asked), asked)
		}
	}
	if err := w.store.Close(); err != nil {
		t.Fatal(err)
	}
	kept := w.log.String()
	files, _ := filepath.Glob(filepath.Join(filepath.Dir(w.store.Path()), "*"))
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		kept += string(text)
	}
	if len(files) == 0 || !strings.Contains(kept, "secret media/team") || strings.Contains(kept, "a-pass") || strings.Contains(kept, "wr0ng") {
		t.Errorf("the store or the log has a password, or nothing at all: %d files", len(files))
	}
}

// TestPullSecretsThatCannotBeReadFailNothing: what is public is checked all the same, and the log says why once.
func TestPullSecretsThatCannotBeReadFailNothing(t *testing.T) {
	w := open(t)
	w.hub.tags["library/nginx"] = []string{"1.25.0", "1.26.0"}
	w.engine.has(container("web", "nginx:1.25.0"))
	of := w.local()
	of.Pulls = secrets{err: errors.New("the cluster is gone")}
	for range 2 {
		if _, err := w.Run(t.Context(), of); err != nil {
			t.Fatal(err)
		}
	}
	if got := w.get("id-web").Result.Tag; got != "1.26.0" {
		t.Errorf("it is offered %q", got)
	}
	if n := strings.Count(w.log.String(), "the pull secrets of local are not used: the cluster is gone"); n != 1 {
		t.Errorf("the log says it %d times:\n%s", n, w.log)
	}
}
