package api

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/hashicorp/go-hclog"

	"github.com/dogwatch/dogwatch/core/plugin/agent"
	"github.com/dogwatch/dogwatch/sdk"
	"github.com/dogwatch/dogwatch/sdk/watcher"
)

// noEngine is the watcher of an agent's host, on which nothing runs.
type noEngine struct {
	watcher.Updater
	watcher.LogReader
}

func (noEngine) ListRaw(context.Context) ([]watcher.Container, error) { return nil, nil }
func (noEngine) Watch(ctx context.Context, _ func(watcher.Event)) error {
	<-ctx.Done()
	return ctx.Err()
}
func (noEngine) Probe(context.Context) (sdk.ProbeResult, error) {
	return sdk.ProbeResult{}, sdk.ErrUnsupported
}

// TestAgents from the token to the end, through the server with its base path, where a login is configured that
// agents do not have.
func TestAgents(t *testing.T) {
	w := startWithLogin(t, []string{"DOGWATCH_SERVER_BASEPATH=/watch",
		"DOGWATCH_PUBLIC_URL=https://dogwatch.example.org/watch/"})
	ana := []string{"Authorization", basic("ana", ownPassword)}
	same(t, "none", string(w.get("/watch/api/agents", ana...).want(200).body), "[]")
	made := w.do("POST", "/watch/api/agents", `{"name":"nas"}`, ana...).want(201).object()
	if made["url"] != "https://dogwatch.example.org/watch" {
		t.Errorf("the address is %v", made["url"])
	}
	for _, name := range []string{"local", "My NAS"} {
		w.do("POST", "/watch/api/agents", fmt.Sprintf(`{"name":%q}`, name), ana...).fails(400, "name")
	}
	dir := t.TempDir()
	joined, err := agent.Join(t.Context(), agent.JoinOptions{
		Dir: dir, URL: w.url + "/watch", Token: fmt.Sprint(made["token"]), Name: "host", Version: "1.2.3", Now: time.Now,
	})
	if err != nil || joined.Name != "nas" {
		t.Fatalf("%+v, %v", joined, err)
	}
	operations, err := agent.OpenOperations(dir, noEngine{}, hclog.NewNullLogger())
	if err != nil {
		t.Fatal(err)
	}
	defer operations.Close()
	ctx, end := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	go func() {
		ended <- agent.Run(ctx, agent.HostOptions{
			Dir: dir, Version: "1.2.3",
			Watcher: agent.NewWatcher(noEngine{}, operations, agent.Limits{Stacks: []string{"media"}, Logs: true}, nil),
			Log:     hclog.NewNullLogger(), Now: time.Now,
		})
	}()
	defer func() {
		end()
		if err := <-ended; err != nil {
			t.Error(err)
		}
	}()
	connected := func(name string) error {
		all := w.get("/watch/api/agents", ana...).want(200).list()
		if len(all) != 1 || all[0]["name"] != name || all[0]["connected"] != true || all[0]["address"] != "127.0.0.1" {
			return fmt.Errorf("%v", all)
		}
		return nil
	}
	waitFor(t, func() error { return connected("nas") })
	all := w.get("/watch/api/agents", ana...).want(200).list()
	same(t, "limits", fmt.Sprint(all[0]["limits"]), "map[hooks:false logs:true stacks:[media]]")
	found := w.do("POST", "/watch/api/agents/nas/doctor", "", ana...).want(200).list()
	if last := found[len(found)-1]; last["subject"] != "rights" || last["level"] != "ok" ||
		!strings.Contains(fmt.Sprint(last["detail"]), "these stacks only: media") {
		t.Errorf("%v", found)
	}
	w.do("POST", "/watch/api/agents/none/doctor", "", ana...).fails(404, "Agent not found")
	w.do("POST", "/watch/api/agents/nas/rename", `{"name":"local"}`, ana...).fails(400, "name")
	w.do("POST", "/watch/api/agents/nas/rename", `{"name":"attic"}`, ana...).want(204)
	waitFor(t, func() error { return connected("attic") })
	w.do("DELETE", "/watch/api/agents/nas", "", ana...).fails(404, "Agent not found")
	w.do("DELETE", "/watch/api/agents/attic", "", ana...).want(204)
	same(t, "revoked", string(w.get("/watch/api/agents", ana...).want(200).body), "[]")
	events, err := w.store.Events(t.Context(), 0, 1000)
	if err != nil || len(events) < 3 {
		t.Errorf("%d events, %v", len(events), err)
	}
	secret := strings.Split(fmt.Sprint(made["token"]), ".")[1]
	if said := fmt.Sprintf("%s %+v", w.log, events); strings.Contains(said, secret) {
		t.Error("the log or an event has the secret of the token")
	}
}

func waitFor(t *testing.T, try func() error) {
	t.Helper()
	err := errors.New("not tried")
	for end := time.Now().Add(20 * time.Second); err != nil && time.Now().Before(end); time.Sleep(10 * time.Millisecond) {
		err = try()
	}
	if err != nil {
		t.Fatal(err)
	}
}
