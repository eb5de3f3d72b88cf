package e2e

import (
	"net/http"
	"net/url"
	"slices"
	"strings"
	"syscall"
	"testing"

	"github.com/dogwatch/dogwatch/core/serve/api"
	"github.com/dogwatch/dogwatch/plugins/watchers/docker/dockertest"
	"github.com/dogwatch/dogwatch/sdk"
)

// TestImagesDiffer compares two images of a real registry, of which a real engine runs the
// first, by API, command line and page; hostile labels are bounded and no markup. What that
// took of requests is counted, and still is after the process was killed.
func TestImagesDiffer(t *testing.T) {
	t.Parallel()
	engine, registry := dockertest.Start(t), startRegistry(t)
	old, newer := registry+"/media/player:1.0.0", registry+"/media/player:1.1.0"
	engine.Image(t, old, "USER 500", "ENV MODE=fast", "ENV GONE=1", "EXPOSE 8080", "VOLUME /old", `CMD ["serve"]`,
		"LABEL version=1.0.0")
	engine.Image(t, newer, "USER 1000", "ENV MODE=safe", "EXPOSE 9090", "VOLUME /data", `CMD ["serve", "--safe"]`,
		"LABEL version=1.1.0",
		`LABEL evil="<script>alert(1)</script>"`, "LABEL long="+strings.Repeat("x", 20_000),
		"LABEL org.opencontainers.image.base.name=debian:13")
	for _, ref := range []string{old, newer} {
		engine.Push(t, ref)
	}
	engine.Pull(t, old)
	engine.Run(t, "player", old, nil)
	in := install(t,
		"WUD_WATCHER_LOCAL_SOCKET="+strings.TrimPrefix(engine.Host, "unix://"), "WUD_WATCHER_LOCAL_CRON=0 0 1 1 *",
		"DOGWATCH_REGISTRY_CUSTOM_LAN_URL=http://"+registry, "DOGWATCH_CHECK_BUDGETS="+registry+"=100/6h")
	d := in.start()
	get[[]sdk.Container](d, http.MethodPost, "/api/containers/watch")
	c := named(t, d.containers(), "player")
	if !c.UpdateAvailable {
		t.Fatalf("no update is found: %+v", c.Result)
	}
	use := func(d *daemon) (used int) {
		for _, r := range get[[]struct {
			Requests []struct {
				Host         string
				Used         int
				Budget, Next int
				Estimated    bool
				Left         *int
			}
		}](d, http.MethodGet, "/api/registries") {
			for _, one := range r.Requests {
				if one.Host != registry {
					continue
				}
				if used = one.Used; one.Estimated || one.Budget != 100 || one.Left == nil || *one.Left != 100-used {
					t.Errorf("the requests are %+v", one)
				}
			}
		}
		return used
	}
	diff := get[api.ImageDiff](d, http.MethodGet, "/api/containers/"+c.ID+"/diff")
	var got []string
	for _, change := range diff.Changes {
		got = append(got, change.Title())
		if len(change.After) > 400 {
			t.Errorf("%s has %d bytes", change.Title(), len(change.After))
		}
	}
	for _, want := range []string{"user", "command", "port 8080/tcp", "port 9090/tcp", "volume /old", "volume /data",
		"env MODE", "env GONE", "label evil", "label long", "label version", "base image"} {
		if !slices.Contains(got, want) {
			t.Errorf("%q does not differ, only %q", want, got)
		}
	}
	var codes []string
	for _, w := range diff.Warnings {
		codes = append(codes, w.Code)
	}
	for _, want := range []string{"image.user", "image.volume", "image.port", "image.command"} {
		if !slices.Contains(codes, want) {
			t.Errorf("nothing warns of %s: %+v", want, diff.Warnings)
		}
	}
	if l := diff.Layers; l == nil || l.Shared < 1 {
		t.Errorf("the layers are %+v", l)
	}
	status, page := d.request(http.MethodGet, "/containers/local/player/diff", "")
	if text := string(page); status != http.StatusOK || !strings.Contains(text, "/data") ||
		!strings.Contains(text, "&lt;script&gt;alert(1)") || strings.Contains(text, "<script>alert(1)") {
		t.Errorf("%d %s", status, text)
	}
	at, err := url.Parse(d.url)
	must(t, err)
	cli := *in
	cli.env = append(slices.Clone(cli.env), "DOGWATCH_SERVER_PORT="+at.Port())
	if out, problems, code := cli.run("diff", "player"); code != 0 || !strings.Contains(out, "/data") ||
		!strings.Contains(out, "no longer exposes") {
		t.Errorf("exit code %d: %s%s", code, out, problems)
	}

	// The tags; the digest for the check, the API, the page and the command line; manifests and configurations
	// once, and those that say that the new tag is an image.
	if used := use(d); used != 11 {
		t.Errorf("%d requests are counted, want 11", used)
	}
	get[[]sdk.Container](d, http.MethodPost, "/api/containers/watch") // which stores the count
	before := use(d)
	must(t, d.cmd.Process.Signal(syscall.SIGKILL))
	<-d.done
	d = in.start()
	defer d.stop()
	eventually(t, "what was requested before the process was killed is counted after it", func() bool {
		return use(d) >= before
	})
	const said = "of 100 requests in 6 h used"
	out, problems, _ := in.run("doctor", "--json")
	if !strings.Contains(out, said) {
		t.Errorf("doctor does not say %q: %s%s", said, out, problems)
	}
}
