package e2e

import (
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/dogwatch/dogwatch/plugins/registries/registrysim"
	"github.com/dogwatch/dogwatch/sdk"
)

// TestAcceptedDeliveryOutlivesItsProcess: what a delivery concerns is checked, also when the
// process is killed, stopped or starts anew right after it has accepted the delivery.
func TestAcceptedDeliveryOutlivesItsProcess(t *testing.T) {
	t.Parallel()
	const secret = "the-secret-of-this-registry"
	for name, end := range map[string]func(t *testing.T, in *installation, d *daemon) *daemon{
		"killed": func(t *testing.T, in *installation, d *daemon) *daemon {
			must(t, d.cmd.Process.Kill())
			<-d.done
			return in.start()
		},
		"stopped": func(_ *testing.T, in *installation, d *daemon) *daemon {
			d.stop()
			return in.start()
		},
		"reloaded": func(t *testing.T, _ *installation, d *daemon) *daemon {
			must(t, d.cmd.Process.Signal(syscall.SIGHUP))
			d.listens()
			return d
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			f := newFleet(t, 2, registrysim.Options{})
			file := filepath.Join(shortDir(t), "dogwatch.yaml")
			must(t, os.WriteFile(file, []byte("check.perhost: 4\n"), 0o600))
			in := install(t,
				append(f.env(), "DOGWATCH_CONFIG="+file, "DOGWATCH_WATCHER_DOCKER_LOCAL_WATCHATSTART=false",
					"DOGWATCH_WEBHOOKS_SECRETS=lab="+secret)...)
			d := in.start()
			get[[]sdk.Container](d, http.MethodPost, "/api/containers/watch")
			f.registry(0).Push(f.repo(0), "1.1.0")
			f.registry(1).Push(f.repo(1), "1.1.0")
			must(t, os.WriteFile(file, []byte("check.perhost: 5\n"), 0o600)) // which counts after a restart only
			req, err := http.NewRequestWithContext(t.Context(), http.MethodPost, d.url+"/api/webhooks/lab",
				strings.NewReader(fmt.Sprintf(`{"image":"%s/%s"}`, f.hosts[0], f.repo(0))))
			must(t, err)
			req.Header.Set("Authorization", "Bearer "+secret)
			resp, err := http.DefaultClient.Do(req)
			must(t, err)
			resp.Body.Close()
			if resp.StatusCode != http.StatusAccepted {
				t.Fatalf("the delivery: %s", resp.Status)
			}
			d = end(t, in, d)
			defer d.stop()
			eventually(t, "the accepted delivery leads to a result", func() bool { return d.offers(f.repo(0)) == "1.1.0" })
			if tag := d.offers(f.repo(1)); tag == "1.1.0" {
				t.Error("another repository was checked")
			}
		})
	}
}

// offers returns the tag that is offered to the container of a repository.
func (d *daemon) offers(repo string) string {
	for _, c := range d.containers() {
		if c.Image.Name == repo && c.UpdateAvailable {
			return c.Result.Tag
		}
	}
	return ""
}
