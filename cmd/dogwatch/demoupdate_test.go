package main

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/docker/docker/api/types/container"

	"github.com/dogwatch/dogwatch/core/serve/api"
	"github.com/dogwatch/dogwatch/core/update/operation"
	"github.com/dogwatch/dogwatch/sdk"
)

// demoClient is a Dogwatch that serves the homelab as the demo does, and its client.
type demoClient struct {
	client
	lab *homelab
}

func serveDemo(t *testing.T) *demoClient {
	t.Helper()
	lab, err := openHomelab(demoRules)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = lab.close() })
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	l.Close()
	port := l.Addr().(*net.TCPAddr).Port
	// The sockets of plugins have no room in the temporary folder of a test.
	dir, err := os.MkdirTemp("", "dw")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.RemoveAll(dir) })
	cmd := exec.Command(filepath.Join(binaries, "dogwatch"), "serve")
	cmd.Dir = dir
	cmd.Env = slices.Concat(lab.environment(), demoPolicies(), demoSettings(), []string{
		"HOME=" + dir, "DOGWATCH_STORE_PATH=" + dir, "DOGWATCH_SERVER_HOST=127.0.0.1",
		"DOGWATCH_SERVER_PORT=" + strconv.Itoa(port),
	})
	var said strings.Builder
	cmd.Stdout, cmd.Stderr = &said, &said
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = cmd.Process.Signal(os.Interrupt)
		_ = cmd.Wait()
		if t.Failed() {
			t.Log(said.String())
		}
	})
	return &demoClient{client{base: "http://127.0.0.1:" + strconv.Itoa(port), http: localClient()}, lab}
}

// until calls try until it succeeds.
func until(t *testing.T, what string, try func(ctx context.Context) error) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 2*time.Minute)
	defer cancel()
	for {
		err := try(ctx)
		if err == nil {
			return
		}
		select {
		case <-ctx.Done():
			t.Fatalf("%s: %v", what, err)
		case <-time.After(50 * time.Millisecond):
		}
	}
}

// container is a container of the demo as the API has it, once it is as wanted.
func (d *demoClient) container(t *testing.T, name string, wanted func(c sdk.Container) bool) (found sdk.Container) {
	t.Helper()
	until(t, "the container "+name, func(ctx context.Context) error {
		var all []sdk.Container
		if err := d.call(ctx, http.MethodGet, "/api/containers", &all); err != nil {
			return err
		}
		at := slices.IndexFunc(all, func(c sdk.Container) bool { return c.Name == name })
		if at < 0 || !wanted(all[at]) {
			return fmt.Errorf("it is not as it should be: %+v", all)
		}
		found = all[at]
		return nil
	})
	return found
}

// begin plans an operation of a container and confirms the plan, as the page does.
func (d *demoClient) begin(t *testing.T, c sdk.Container, kind operation.Kind) (op api.Operation) {
	t.Helper()
	var p api.Plan
	if err := d.post(t.Context(), containerPath(c, "plan"), change{Kind: kind}, &p); err != nil {
		t.Fatal(err)
	}
	if len(p.Blocks) > 0 || len(p.Steps) < 6 {
		t.Fatalf("the plan of %s is %+v", c.Name, p)
	}
	confirmed := change{Digest: p.To.Digest, State: p.State}
	if err := d.post(t.Context(), containerPath(c, string(kind)), confirmed, &op); err != nil {
		t.Fatal(err)
	}
	return op
}

func (d *demoClient) ended(t *testing.T, op api.Operation) api.Operation {
	t.Helper()
	until(t, "operation "+op.ID, func(ctx context.Context) error {
		err := d.call(ctx, http.MethodGet, "/api/operations/"+op.ID, &op)
		if err == nil && !op.State.Ended() {
			err = fmt.Errorf("it is %s", op.State)
		}
		return err
	})
	return op
}

// ask reads a document of the simulated engine.
func (d *demoClient) ask(t *testing.T, path string, into any) {
	t.Helper()
	engine := client{base: strings.Replace(d.lab.listener.Address, "tcp://", "http://", 1), http: localClient()}
	if err := engine.call(t.Context(), http.MethodGet, path, into); err != nil {
		t.Fatal(err)
	}
}

// runs checks that list and inspection of the engine agree that a container runs the image of a
// tag, which is the one that the registry has, with all that its owner has set.
func (d *demoClient) runs(t *testing.T, name, repo, tag string) (id string) {
	t.Helper()
	at := slices.IndexFunc(d.lab.apps, func(a demoApp) bool { return a.name == name })
	a := d.lab.apps[at]
	image, known := d.lab.sites[a.site].Image(a.repository(), tag)
	if !known {
		t.Fatalf("the registry has no %s:%s", repo, tag)
	}
	var c container.InspectResponse
	d.ask(t, "/containers/"+name+"/json", &c)
	if c.Config.Image != repo+":"+tag || c.Image != image.Platforms[0].Config || c.State.Status != "running" {
		t.Errorf("%s is %s and runs %s, which is %s", name, c.State.Status, c.Config.Image, c.Image)
	}
	wanted := d.lab.containerOf(a, "")
	if c.HostConfig.RestartPolicy.Name != wanted.Host.RestartPolicy.Name || len(c.NetworkSettings.Networks) != 1 ||
		!slices.Equal(c.HostConfig.Binds, wanted.Host.Binds) || len(c.NetworkSettings.Ports) != 1 ||
		!slices.Contains(c.Config.Env, wanted.Config.Env[0]) {
		t.Errorf("%s lost a setting: %+v, %+v, %+v", name, c.HostConfig, c.NetworkSettings, c.Config)
	}
	var all []container.Summary
	d.ask(t, "/containers/json?all=1", &all)
	listed := slices.DeleteFunc(all, func(s container.Summary) bool {
		return s.Names[0] != "/"+name && !strings.HasPrefix(s.Names[0], "/"+name+"-dogwatch-")
	})
	if len(listed) != 1 || listed[0].ID != c.ID || listed[0].ImageID != c.Image || listed[0].Image != repo+":"+tag {
		t.Errorf("the list has %+v", listed)
	}
	return c.ID
}

// events returns what happened to a container, up to an event.
func (d *demoClient) events(t *testing.T, id, last string) (actions []string) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	at := strings.Replace(d.lab.listener.Address, "tcp://", "http://", 1)
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, at+"/events?since=0", nil)
	if err != nil {
		t.Fatal(err)
	}
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		t.Fatal(err)
	}
	defer response.Body.Close()
	for lines := bufio.NewScanner(response.Body); lines.Scan(); {
		var e struct {
			Action string
			Actor  struct{ ID string }
		}
		if err := json.Unmarshal(lines.Bytes(), &e); err != nil {
			t.Fatal(err)
		}
		if e.Actor.ID != id {
			continue
		}
		if actions = append(actions, e.Action); e.Action == last {
			return actions
		}
	}
	t.Fatalf("there is no event %s of %s: %q", last, id, actions)
	return nil
}

// TestDemoUpdates: an update in the demo succeeds, one whose new version fails its health check
// comes back and says why, and a rollback returns to the version before. The engine, its events,
// the registry and Dogwatch agree.
func TestDemoUpdates(t *testing.T) {
	t.Parallel()
	d := serveDemo(t)
	offered := func(tag string) func(sdk.Container) bool {
		return func(c sdk.Container) bool { return c.UpdateAvailable && c.Result.Tag == tag }
	}
	proxy, broker := d.container(t, "proxy", offered("1.27.2-alpine")), d.container(t, "broker", offered("2.0.20"))
	good, bad := d.begin(t, proxy, operation.Update), d.begin(t, broker, operation.Update)

	if good = d.ended(t, good); good.State != operation.Succeeded || good.Outcome.Downtime < 0.1 {
		t.Errorf("the update of proxy is %s: %s %+v", good.State, good.Error, good.Outcome)
	}
	id := d.runs(t, "proxy", "nginx", "1.27.2-alpine")
	replaced := strings.Join(d.events(t, proxy.ID, "destroy"), " ") + ", " + strings.Join(d.events(t, id, "start"), " ")
	if replaced != "create start rename kill die stop destroy, create start" {
		t.Errorf("what happened to the old and the new proxy: %s", replaced)
	}
	proxy = d.container(t, "proxy", func(c sdk.Container) bool { return c.ID == id && !c.UpdateAvailable })
	if proxy.Image.Tag.Value != "1.27.2-alpine" || proxy.Error != nil {
		t.Errorf("Dogwatch has %+v", proxy)
	}

	bad = d.ended(t, bad)
	if bad.State != operation.RolledBack || bad.Outcome == nil || bad.Outcome.Evidence == nil {
		t.Fatalf("the update of broker is %s: %s", bad.State, bad.Error)
	}
	left := bad.Outcome.Evidence
	if len(left.Health) < 3 || left.Health[0].ExitCode != 1 || !strings.Contains(left.Health[0].Output, "refused") ||
		!strings.Contains(left.Log, "migrate it first") || !strings.Contains(left.Status, "unhealthy") {
		t.Errorf("the new broker left %+v", left)
	}
	if id := d.runs(t, "broker", "eclipse-mosquitto", "2.0.18"); id != broker.ID {
		t.Errorf("broker is %s, and was %s", id, broker.ID)
	}

	back := d.ended(t, d.begin(t, proxy, operation.Rollback))
	if back.State != operation.Succeeded {
		t.Errorf("the rollback of proxy is %s: %s", back.State, back.Error)
	}
	d.runs(t, "proxy", "nginx", "1.25.3-alpine")
	d.container(t, "proxy", offered("1.27.2-alpine"))
}

// TestDemoUpdatesByItself what a label lets it: shop, and with it what compose restarts.
func TestDemoUpdatesByItself(t *testing.T) {
	t.Parallel()
	d := serveDemo(t)
	var op api.Operation
	until(t, "an automatic update", func(ctx context.Context) error {
		var all []api.Operation
		err := d.call(ctx, http.MethodGet, "/api/operations", &all)
		if err == nil && len(all) == 0 {
			err = fmt.Errorf("there is none")
		}
		if err == nil {
			op = all[0]
		}
		return err
	})
	op = d.ended(t, op)
	if op.Name != "shop" || op.State != operation.Succeeded || len(op.Plan.Dependents) != 1 {
		t.Errorf("%+v", op)
	}
	d.runs(t, "shop", d.lab.sites[homeSite].prefix+"shop/frontend", "3.2.0")
	worker := d.container(t, "shop-worker", func(c sdk.Container) bool { return c.Status == "running" })
	if got := d.events(t, worker.ID, "restart"); !slices.Contains(got, "die") {
		t.Errorf("shop-worker: %q", got)
	}
}
