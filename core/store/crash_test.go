package store

import (
	"bufio"
	"context"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/dogwatch/dogwatch/core/model/event"
	"github.com/dogwatch/dogwatch/core/notify/delivery"
	"github.com/dogwatch/dogwatch/sdk"
)

// child is what this binary does when a test has started it for a part.
func child(part string) {
	parts := map[string]func(path string) error{"commit": commitForEver, "fill": fillSmallDisk, "import": importForEver}
	if err := parts[part](os.Getenv("DOGWATCH_STORE_PATH")); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	os.Exit(0)
}

func childCommand(t *testing.T, part, path string) *exec.Cmd {
	t.Helper()
	self, err := os.Executable()
	must(t, err)
	cmd := exec.Command(self)
	cmd.Env = append(os.Environ(), "DOGWATCH_STORE_CHILD="+part, "DOGWATCH_STORE_PATH="+path)
	cmd.Stderr = os.Stderr
	return cmd
}

// commitForEver counts on from where an earlier child was killed. Each step is
// three transactions; a line on stdout acknowledges the step.
func commitForEver(path string) error {
	ctx := context.Background()
	s, err := Open(ctx, path, Options{})
	if err != nil {
		return err
	}
	last, err := s.LastEvent(ctx)
	if err != nil {
		return err
	}
	for step := last/2 + 1; ; step++ {
		run := strconv.FormatInt(step, 10)
		c := container("local", fmt.Sprint("n", step%7), fmt.Sprint("id", step%11))
		c.Status = run
		e := event.Event{Type: event.UpdateFound, Subject: event.Subject(c), Run: run, Payload: event.Payload{Container: &c}}
		if err := s.Commit(ctx, event.Change{
			Put: []sdk.Container{c}, Events: []event.Event{e, e},
			Candidates: map[string][]byte{"local/last": fmt.Appendf(nil, `{"from": %q}`, run)},
		}); err != nil {
			return err
		}
		ds := []delivery.Delivery{{Trigger: "a", Subject: run, Event: step}, {Trigger: "b", Subject: run, Event: step}}
		if _, err := s.Plan(ctx, "dispatch", step, ds); err != nil {
			return err
		}
		if _, _, err := s.Claim(ctx, "a", s.now()); err != nil {
			return err
		}
		fmt.Println(run)
	}
}

// TestKillDuringWritesLosesNothing kills a writer in mid-flight, again and again: what it
// acknowledged is there, what belongs together is there together or not at all.
func TestKillDuringWritesLosesNothing(t *testing.T) {
	rnd := rand.New(rand.NewPCG(7, 8))
	path := filepath.Join(t.TempDir(), "store.db")
	claims := 0 // acknowledged by all children
	for range 20 {
		acknowledged, steps := killAfter(t, path, 1+rnd.IntN(15))
		claims += steps
		s := open(t, path)
		ctx := t.Context()

		var verdict string
		must(t, s.reader.QueryRow("PRAGMA integrity_check").Scan(&verdict))
		if verdict != "ok" {
			t.Fatalf("integrity_check: %s", verdict)
		}
		last, err := s.LastEvent(ctx)
		must(t, err)
		if last%2 != 0 || last/2 < acknowledged {
			t.Fatalf("%d events for %d acknowledged steps", last, acknowledged)
		}
		newest := ""
		for _, r := range s.Snapshot().All() {
			if len(r.Container.Status) > len(newest) || len(r.Container.Status) == len(newest) && r.Container.Status > newest {
				newest = r.Container.Status
			}
		}
		if newest != strconv.FormatInt(last/2, 10) {
			t.Fatalf("containers are at step %s, events at %d", newest, last/2)
		}
		if known, err := s.Candidates(ctx); err != nil || known["local/last"].From != newest {
			t.Fatalf("candidates are at step %s, containers at %s: %v", known["local/last"].From, newest, err)
		}
		cursor, err := s.Cursor(ctx, "dispatch")
		must(t, err)
		ds, err := s.Deliveries(ctx, DeliveryFilter{Limit: 1 << 20})
		must(t, err)
		if cursor < acknowledged || int64(len(ds)) != 2*cursor || ds[0].Event != cursor {
			t.Fatalf("cursor at %d with %d deliveries, %d acknowledged", cursor, len(ds), acknowledged)
		}
		sending, err := s.Deliveries(ctx, DeliveryFilter{State: delivery.Sending, Limit: 1 << 20})
		must(t, err)
		if len(sending) < claims || int64(len(sending)) > cursor {
			t.Fatalf("%d claimed, %d acknowledged", len(sending), claims)
		}
		if cursor*2 < last { // killed between the two: the next plan makes up for it, as a reader would
			run := strconv.FormatInt(last/2, 10)
			_, err := s.Plan(ctx, "dispatch", last/2,
				[]delivery.Delivery{{Trigger: "a", Subject: run, Event: last / 2}, {Trigger: "b", Subject: run, Event: last / 2}})
			must(t, err)
		}
		must(t, s.Close())
	}
}

// killAfter runs a child until it has acknowledged n steps, kills it, and returns
// the last step it acknowledged and how many these were.
func killAfter(t *testing.T, path string, n int) (acknowledged int64, steps int) {
	t.Helper()
	cmd := childCommand(t, "commit", path)
	out, err := cmd.StdoutPipe()
	must(t, err)
	must(t, cmd.Start())
	lines := bufio.NewScanner(out)
	read := func() bool {
		if !lines.Scan() {
			return false
		}
		if step, err := strconv.ParseInt(strings.TrimSpace(lines.Text()), 10, 64); err == nil {
			acknowledged = step
			steps++
		}
		return true
	}
	for range n {
		if !read() {
			break
		}
	}
	killed := cmd.Process.Kill()
	for read() { // what it said before it was killed
	}
	_ = cmd.Wait() // it was killed, which is an error
	must(t, killed)
	if acknowledged == 0 {
		t.Fatal("the child acknowledged nothing")
	}
	return acknowledged, steps
}
