package webhook

import (
	"bufio"
	"bytes"
	"io"
	"net/http"
	"net/textproto"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// delivery reads a recorded delivery: the examples in the senders' documentation, whose
// addresses are at the functions that read them.
func delivery(t testing.TB, name string) (http.Header, []byte) {
	t.Helper()
	text, err := os.ReadFile(filepath.Join("testdata", name+".http"))
	if err != nil {
		t.Fatal(err)
	}
	r := bufio.NewReader(bytes.NewReader(text))
	header, err := textproto.NewReader(r).ReadMIMEHeader()
	if err != nil {
		t.Fatal(err)
	}
	body, err := io.ReadAll(r)
	if err != nil {
		t.Fatal(err)
	}
	return http.Header(header), body
}

func TestParse(t *testing.T) {
	for name, want := range map[string]struct {
		format, images, ignored string
	}{
		"dockerhub":             {"dockerhub", "docker.io/svendowideit/testhook", ""},
		"ghcr":                  {"ghcr", "ghcr.io/codertocat/hello-world-docker", ""},
		"ghcr-registry-package": {"ghcr", "ghcr.io/octo-org/app", ""},
		"ghcr-ping":             {"ghcr", "", "a ping"},
		"harbor":                {"harbor", "hub.harbor.com/test-webhook/debian", ""},
		"harbor-cloudevents":    {"harbor", "harbor.dev/library/debian", ""},
		"harbor-deleted":        {"harbor", "", "an event that is no push: choose Artifact pushed only"},
		"quay":                  {"quay", "quay.io/mynamespace/repository", ""},
		"quay-build":            {"quay", "", "a notification that is no push: choose Push to Repository only"},
		"gitlab":                {"gitlab", "registry.gitlab.com/gitlab-org/gitlab-test/…", ""},
		"gitlab-own":            {"gitlab", "gitlab-org/gitlab-test/…", ""},
		"gitlab-running":        {"gitlab", "", "a pipeline that has not succeeded"},
		"gitea":                 {"gitea", "git.example.org:3000/sysadmin/app", ""},
		"forgejo":               {"gitea", "codeberg.org/me/tools/app", ""},
		"gitea-npm":             {"gitea", "", "a package that is no container image"},
		"acr":                   {"acr", "myregistry.azurecr.io/hello-world", ""},
		"acr-ping":              {"acr", "", "an action that is no push of an image"},
		"eventgrid":             {"eventgrid", "demo.azurecr.io/aci-helloworld", ""},
		"eventgrid-cloudevents": {"eventgrid", "demo.azurecr.io/aci-helloworld", ""},
		"eventgrid-validation":  {"eventgrid", "", "a validation of the address"},
		"distribution":          {"distribution", "registrycluster.local/library/test", ""},
		"distribution-pull":     {"distribution", "", "events that are no push of an image"},
		"plain":                 {"plain", "ghcr.io/owner/name", ""},
		"plain-hub":             {"plain", "docker.io/library/nginx docker.io/library/redis", ""},
	} {
		t.Run(name, func(t *testing.T) {
			header, body := delivery(t, name)
			d, err := Parse(header, body)
			if err != nil {
				t.Fatal(err)
			}
			var images []string
			for _, i := range d.Images {
				images = append(images, i.String())
			}
			if got := strings.Join(images, " "); d.Format != want.format || got != want.images || d.Ignored != want.ignored {
				t.Errorf("%s: %q, %q; want %s: %q, %q", d.Format, got, d.Ignored, want.format, want.images, want.ignored)
			}
			if d.ID == "" {
				t.Error("the delivery has no id")
			}
			if !slices.Contains(Formats(), d.Format) {
				t.Errorf("Formats has no %s", d.Format)
			}
		})
	}
}

func TestParseRefuses(t *testing.T) {
	many := `{"images":[` + strings.TrimSuffix(strings.Repeat(`"a/b",`, maxImages+1), ",") + `]}`
	for name, test := range map[string]struct{ body, want string }{
		"nothing":       {"", "is not JSON"},
		"a form":        {"payload=%7B%7D", "is not JSON"},
		"a number":      {"7", "of no known sender"},
		"an empty one":  {"{}", "of no known sender"},
		"no image":      {`{"image":""}`, "of no known sender"},
		"a wrong image": {`{"image":"https://ghcr.io/a b"}`, "names an image that cannot be one"},
		"a wrong host": {`{"action":"push","target":{"tag":"1","repository":"a"},"request":{"host":"a b"}}`,
			"names an image that cannot be one"},
		"too many":     {many, "more than 100 images"},
		"another type": {`{"push_data":{},"repository":7}`, "of no known sender"},
		"a wrong Harbor": {`{"type":"PUSH_ARTIFACT","event_data":{"resources":[{"resource_url":"?"}]}}`,
			"names an image that cannot be one"},
	} {
		t.Run(name, func(t *testing.T) {
			if d, err := Parse(http.Header{}, []byte(test.body)); err == nil || !strings.Contains(err.Error(), test.want) {
				t.Errorf("%+v, error %v, want %q", d, err, test.want)
			}
		})
	}
}

func FuzzParse(f *testing.F) {
	all, err := filepath.Glob("testdata/*.http")
	if err != nil || len(all) == 0 {
		f.Fatal(err)
	}
	for _, path := range all {
		header, body := delivery(f, strings.TrimSuffix(filepath.Base(path), ".http"))
		f.Add(header.Get("X-Github-Event"), header.Get("X-Gitea-Event"), header.Get("X-Gitlab-Event"), body)
	}
	f.Fuzz(func(t *testing.T, github, gitea, gitlab string, body []byte) {
		d, err := Parse(http.Header{"X-Github-Event": {github}, "X-Gitea-Event": {gitea}, "X-Gitlab-Event": {gitlab}}, body)
		if err != nil {
			return
		}
		if d.Format == "" || d.ID == "" || len(d.Images) == 0 && d.Ignored == "" || len(d.Images) > maxImages {
			t.Errorf("%+v", d)
		}
		for _, i := range d.Images {
			if i.Name == "" {
				t.Errorf("an image without a name: %+v", d)
			}
		}
	})
}
