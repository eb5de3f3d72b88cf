package e2e

import (
	"net/url"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-containerregistry/pkg/name"
	"github.com/google/go-containerregistry/pkg/v1/mutate"
	"github.com/google/go-containerregistry/pkg/v1/remote"

	"github.com/dogwatch/dogwatch/core/serve/api"
	"github.com/dogwatch/dogwatch/plugins/watchers/docker/dockertest"
)

// TestPlanShowsTheImageBeforeThePull: the registry says what the new image changes, how
// large it is and for which platform, and the engine still has the old one alone. The
// command line says the same, and updates.
func TestPlanShowsTheImageBeforeThePull(t *testing.T) {
	t.Parallel()
	engine, registry := dockertest.Start(t), startRegistry(t)
	a := act(t, engine, registry, "shown", []string{"ENV VERSION=1.1.0", "EXPOSE 80", "VOLUME /data", "USER 65534",
		`HEALTHCHECK --interval=400ms CMD ["/main", "health", "h"]`})
	defer a.d.stop()

	plan := a.d.plan(a.name)
	for _, want := range []api.ImageChange{
		{Name: "env VERSION", After: "1.1.0"}, {Name: "port 80/tcp", After: "80/tcp"},
		{Name: "volume /data", After: "/data"}, {Name: "user", After: "65534"},
		{Name: "health check", After: "CMD /main health h"},
	} {
		if !slices.Contains(plan.Changes, want) {
			t.Errorf("%+v is not among the changes %+v", want, plan.Changes)
		}
	}
	if plan.Space.Download == nil || *plan.Space.Download < 100_000 || len(plan.Blocks) > 0 {
		t.Errorf("download %v, blocks %v", plan.Space.Download, plan.Blocks)
	}
	if _, err := engine.API.ImageInspect(t.Context(), a.new); err == nil {
		t.Error("the engine has the new image before the update")
	}

	at, err := url.Parse(a.d.url)
	must(t, err)
	cli := *a.in
	cli.env = append(slices.Clone(cli.env), "DOGWATCH_SERVER_PORT="+at.Port())
	out, problems, code := cli.run("plan", a.name)
	if code != 0 || !strings.Contains(out, " to download; layers already here ") || !strings.Contains(out, "env VERSION: none → 1.1.0") {
		t.Errorf("exit code %d: %s%s", code, out, problems)
	}

	// An image for another platform alone is a block, and nothing is pulled.
	ref := func(tag string) name.Reference {
		parsed, err := name.ParseReference(a.repo+":"+tag, name.Insecure)
		must(t, err)
		return parsed
	}
	image, err := remote.Image(ref("1.1.0"), remote.WithContext(t.Context()))
	must(t, err)
	config, err := image.ConfigFile()
	must(t, err)
	config = config.DeepCopy()
	config.Architecture = "s390x"
	other, err := mutate.ConfigFile(image, config)
	must(t, err)
	must(t, remote.Write(ref("1.2.0"), other, remote.WithContext(t.Context())))
	a.d.watch()
	out, problems, code = cli.run("update", a.name, "--yes")
	if code != 3 || !strings.Contains(problems, "(image.platform)") {
		t.Errorf("exit code %d: %s%s", code, out, problems)
	}
	if all := a.d.operations(a.name); len(all) != 0 {
		t.Errorf("an operation was begun: %+v", all)
	}

	a.push(t, "1.3.0")
	a.d.watch()
	out, problems, code = cli.run("update", a.name, "--yes")
	if code != 0 || !strings.Contains(out, "local/shown: shown was updated to ") {
		t.Errorf("exit code %d: %s%s", code, out, problems)
	}
	only(t, engine, a.name, a.new)
}
