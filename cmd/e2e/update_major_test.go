package e2e

import (
	"net/url"
	"slices"
	"strings"
	"testing"

	"github.com/dogwatch/dogwatch/core/serve/api"
	"github.com/dogwatch/dogwatch/core/update/operation"
	"github.com/dogwatch/dogwatch/plugins/watchers/docker/dockertest"
	"github.com/dogwatch/dogwatch/sdk"
)

// TestDatabaseIsNotCarriedToAnotherMajorVersion, although everything is automatic: the minor version is carried out
// by itself, and the major one is offered, with what it takes. By hand the minor one is planned as well, and the major
// one, which is beside it, is asked about once more.
func TestDatabaseIsNotCarriedToAnotherMajorVersion(t *testing.T) {
	t.Parallel()
	engine, registry := dockertest.Start(t), startRegistry(t)
	db := &product{engine: engine, repo: registry + "/library/postgres"}
	db.old = engine.Image(t, db.repo+":16.4", "VOLUME /data")
	engine.Push(t, db.repo+":16.4")
	db.push(t, "16.6", "VOLUME /data")
	minor := db.new
	db.push(t, "17.2", "VOLUME /data")
	labels := func(mode string) map[string]string {
		return map[string]string{"dogwatch.watch": "true", "dogwatch.update": mode, "dogwatch.update.minage": "0"}
	}
	engine.Run(t, "auto", db.repo+":16.4", labels("auto"))
	engine.Run(t, "hand", db.repo+":16.4", labels("notify"))
	in := install(t,
		"DOGWATCH_WATCHER_DOCKER_LOCAL_SOCKET="+strings.TrimPrefix(engine.Host, "unix://"),
		"DOGWATCH_WATCHER_DOCKER_LOCAL_CRON=0 0 1 1 *", "DOGWATCH_WATCHER_DOCKER_LOCAL_WATCHBYDEFAULT=false",
		"DOGWATCH_WATCHER_DOCKER_LOCAL_UPDATE=true", "DOGWATCH_REGISTRY_CUSTOM_LAN_URL=http://"+registry)
	d := in.start()
	defer d.stop()
	d.watch()
	s := &automatics{d: d}
	if op := d.ended(s.began(t, "auto", 0)); op.State != operation.Succeeded {
		t.Fatalf("the minor version: %s", says(op))
	}
	only(t, engine, "auto", minor)
	d.watch()
	c := known(d, "auto")
	if !c.UpdateAvailable || c.Decision == nil || len(c.Decision.Reasons) == 0 {
		t.Fatalf("then nothing is offered: %s", show(c))
	}
	if c.Result.Tag != "17.2" || c.Decision.State != sdk.StateOffered ||
		c.Decision.Reasons[0].Source != "preset postgres" {
		t.Errorf("then %+v: %+v", c.Result, c.Decision)
	}
	if all := d.operations("auto"); len(all) != 1 {
		t.Errorf("it was updated again: %s", show(all))
	}

	plan := d.plan("hand")
	want := []api.PlanLevel{{Version: "16.6", Kind: sdk.DiffMinor, Chosen: true}, {Version: "17.2", Kind: sdk.DiffMajor}}
	if !slices.Equal(plan.Levels, want) || plan.Kind != sdk.DiffMinor || plan.Major {
		t.Errorf("the plan has %+v, %s, %t, warnings %+v", plan.Levels, plan.Kind, plan.Major, plan.Warnings)
	}
	at, err := url.Parse(d.url)
	must(t, err)
	cli := *in
	cli.env = append(slices.Clone(cli.env), "DOGWATCH_SERVER_PORT="+at.Port())
	out, problems, code := cli.run("update", "hand", "--plan", "--version", "17.2")
	if code != 0 || !strings.Contains(out, "(major)") || !strings.Contains(out, "See https://www.postgresql.org/") {
		t.Errorf("the plan of the major version: exit code %d: %s%s", code, out, problems)
	}
	out, problems, code = cli.run("update", "hand", "--yes", "--version", "17.2")
	if code != 3 || !strings.Contains(problems, "add --major, or choose --version 16.6") ||
		len(d.operations("hand")) > 0 {
		t.Errorf("unasked: exit code %d: %s%s", code, out, problems)
	}
	out, problems, code = cli.run("update", "--all", "--kind", "minor", "--yes")
	if code != 0 || !strings.Contains(out, "local/hand: hand was updated to ") {
		t.Errorf("the minor version: exit code %d: %s%s", code, out, problems)
	}
	only(t, engine, "hand", minor)
	d.watch()
	out, problems, code = cli.run("update", "hand", "--yes", "--major")
	if code != 0 || !strings.Contains(out, "local/hand: hand was updated to ") {
		t.Errorf("the major version: exit code %d: %s%s", code, out, problems)
	}
	only(t, engine, "hand", db.new)
}
