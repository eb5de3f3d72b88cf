package automatic

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"maps"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/hashicorp/go-hclog"

	"github.com/dogwatch/dogwatch/core/decide/choice"
	"github.com/dogwatch/dogwatch/core/decide/decision"
	"github.com/dogwatch/dogwatch/core/decide/policy"
	"github.com/dogwatch/dogwatch/core/decide/scan"
	"github.com/dogwatch/dogwatch/core/model/event"
	"github.com/dogwatch/dogwatch/core/model/update"
	"github.com/dogwatch/dogwatch/core/store"
	"github.com/dogwatch/dogwatch/core/update/operation"
	"github.com/dogwatch/dogwatch/core/update/updater"
	"github.com/dogwatch/dogwatch/core/watch/check"
	"github.com/dogwatch/dogwatch/core/watch/registryquery"
	"github.com/dogwatch/dogwatch/sdk"
)

const (
	killDir, killRound = "DOGWATCH_KILL_DIR", "DOGWATCH_KILL_ROUND"
	// killRounds is how often the process is killed, unless the variable says otherwise.
	killRounds, killRoundsVariable = 15, "DOGWATCH_TEST_KILLS"
)

// TestMain is the process to be killed when a test has started this binary again.
func TestMain(m *testing.M) {
	if dir := os.Getenv(killDir); dir != "" {
		round, err := strconv.Atoi(os.Getenv(killRound))
		if err == nil {
			err = beKilled(dir, round)
		}
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	os.Exit(m.Run())
}

// beKilled runs what decides about updates and carries them out, all of it real but for the
// engine and the registry, and a user who makes choices all the time.
func beKilled(dir string, round int) error {
	ctx := context.Background()
	var bus event.Bus
	s, err := store.Open(ctx, filepath.Join(dir, "store.db"), store.Options{Bus: &bus})
	if err != nil {
		return err
	}
	var out sync.Mutex
	say := func(words ...string) {
		out.Lock()
		defer out.Unlock()
		fmt.Println(strings.Join(words, " "))
	}
	engine := &diskEngine{dir: dir, say: say}
	tags := shelf{engine}
	log := hclog.NewNullLogger()
	shared := func() (all []*sdk.Container) {
		for _, r := range s.Snapshot().All() {
			all = append(all, &r.Container)
		}
		return all
	}
	var decisions *decision.Decisions
	choices := choice.New(choice.Options{Store: s, Now: time.Now, Changed: func(ctx context.Context) {
		if err := decisions.Redecide(ctx); err != nil {
			panic(err)
		}
	}})
	decisions = decision.New(decision.Options{
		Store: s, Candidates: s.Candidates, Choices: choices.Of,
		Rules: func(c sdk.Container) policy.Rules {
			mode := policy.Approve
			if strings.HasPrefix(c.Name, "auto") {
				mode = policy.Auto
			}
			return policy.Rules{Mode: policy.Setting[policy.Mode]{Value: mode, Source: "policy.update"}}
		},
		Facts: func(sdk.Container) policy.Facts { return policy.Facts{MayUpdate: true} },
		Next:  func() time.Time { return time.Time{} }, Bus: &bus, Log: log, Now: time.Now,
	})
	checker := check.New(check.Options{
		Queries: registryquery.New(registryquery.Options{
			Registries: tags, Cache: noCache{}, Limits: registryquery.Limits{PerHost: 4, Total: 4},
			Decisions: decisions, Now: time.Now,
		}),
		Decisions: decisions, Events: s,
		Order: func() []string { return []string{"local"} }, Log: log, Now: time.Now,
	})
	local := check.Watcher{Name: "local", WatchByDefault: true, Lister: engine}
	updates := updater.New(updater.Options{
		Watchers: engine, Registries: images{tags}, Containers: byName{s}, Store: s, Bus: &bus, Log: log, Now: time.Now,
		Listed: func(ctx context.Context, _, id string) error { return checker.One(ctx, local, id) },
	})
	begins := New(Options{
		Containers: shared, Choices: choices.Of, Operations: s, Updater: updates, Bus: &bus,
		Scanned: scan.None{}.Verdict, AtOnce: 3,
		Redact: func(text string) string { return text }, Log: log, Now: time.Now,
	})
	if err := decisions.Redecide(ctx); err != nil {
		return err
	}
	for _, run := range []func(context.Context) error{updates.Run, decisions.Run, begins.Run} {
		go func() { _ = run(ctx) }()
	}
	go func() {
		for {
			if _, err := checker.Fresh(ctx, local); err != nil {
				panic(err)
			}
			time.Sleep(5 * time.Millisecond) // between two checks; nothing waits for it
		}
	}()
	return chooseForEver(ctx, s, choices, rand.New(rand.NewPCG(uint64(round), 12)), say)
}

type byName struct{ *store.Store }

func (s byName) ByName(watcher, name string) (sdk.Container, bool) {
	r, known := s.Snapshot().Named(watcher, name)
	if !known {
		return sdk.Container{}, false
	}
	return r.Container, true
}

// chooseForEver says what a user tries to choose, and whether it was stored.
func chooseForEver(
	ctx context.Context, s *store.Store, choices *choice.Choices, random *rand.Rand, say func(...string),
) error {
	names := []string{"auto1", "auto2", "web", "db"}
	for {
		time.Sleep(time.Duration(random.IntN(8)) * time.Millisecond) // the user thinks; nothing waits for it
		name := names[random.IntN(len(names))]
		r, known := s.Snapshot().Named("local", name)
		if !known || !r.Container.UpdateAvailable {
			continue
		}
		key := update.KeyOf(&r.Container)
		kind := []choice.Kind{choice.Approved, choice.Approved, choice.Skip, choice.Snooze, "undo"}[random.IntN(5)]
		say("try", key.Subject, key.ToTag, string(kind))
		var err error
		if kind == "undo" {
			_, err = choices.Undo(ctx, "ana", key.Subject)
		} else {
			err = choices.Choose(ctx, "ana", key.Subject, key, kind, time.Time{})
		}
		if err != nil {
			return err
		}
		say("stored")
	}
}

// TestKilledProcess kills the process with SIGKILL while users decide and updates run: no choice that was
// stored is lost, none is there that was not made, no operation begins twice, and an
// update that was interrupted is tried again, a few times at most.
func TestKilledProcess(t *testing.T) {
	rounds := killRounds
	if text := os.Getenv(killRoundsVariable); text != "" {
		var err error
		if rounds, err = strconv.Atoi(text); err != nil {
			t.Fatalf("%s: %v", killRoundsVariable, err)
		}
	}
	dir := t.TempDir()
	(&diskEngine{dir: dir}).begin(t)
	k := &killing{t: t, dir: dir, made: map[string]string{}, approvals: map[string]int{}}
	random := rand.New(rand.NewPCG(3, 4))
	for round := range rounds {
		last := k.killAfter(round, 1+random.IntN(30))
		k.verify(last)
		if t.Failed() {
			t.Fatalf("round %d", round)
		}
	}
	t.Logf("%d kills: %d choices, %d operations, %d of them interrupted", rounds, k.choices, k.operations, k.interrupted)
	if k.choices < rounds/2 || k.operations == 0 || k.interrupted == 0 {
		t.Errorf("too little happened: %d choices, %d operations, %d of them interrupted", k.choices, k.operations,
			k.interrupted)
	}
}

// begin makes the containers.
func (e *diskEngine) begin(t *testing.T) {
	t.Helper()
	if err := os.WriteFile(filepath.Join(e.dir, "engine.json"), []byte("{}"), 0o600); err != nil {
		t.Fatal(err)
	}
	e.change(func(s *engineState) {
		s.LastID = 4
		s.Containers = []engineContainer{
			{ID: "id-1", Name: "auto1", Tag: "1.0.0", Stack: "shop", DependsOn: "auto2:service_started:false"},
			{ID: "id-2", Name: "auto2", Tag: "1.0.0", Stack: "shop"},
			{ID: "id-3", Name: "web", Tag: "1.0.0"}, {ID: "id-4", Name: "db", Tag: "1.0.0"},
		}
	})
}

// killing is what the killed processes have said.
type killing struct {
	t   *testing.T
	dir string
	// made are the kinds of the choices that are stored, by subject and version.
	made map[string]string
	// approvals counts the approvals that were tried, by subject and version.
	approvals                        map[string]int
	choices, operations, interrupted int
}

// killAfter runs a process until it has said n lines, kills it, and returns what it tried last
// without saying that it is stored.
func (k *killing) killAfter(round, n int) (open []string) {
	k.t.Helper()
	self, err := os.Executable()
	if err != nil {
		k.t.Fatal(err)
	}
	ctx, stop := context.WithTimeout(k.t.Context(), time.Minute) // for one that says nothing more
	defer stop()
	cmd := exec.CommandContext(ctx, self)
	cmd.Env = append(os.Environ(), killDir+"="+k.dir, killRound+"="+strconv.Itoa(round))
	cmd.Stderr = os.Stderr
	stdout, err := cmd.StdoutPipe()
	if err != nil {
		k.t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		k.t.Fatal(err)
	}
	said := bufio.NewScanner(stdout)
	for i := 0; said.Scan(); i++ {
		if i == n {
			if err := cmd.Process.Kill(); err != nil {
				k.t.Error(err)
			}
		}
		switch words := strings.Fields(said.Text()); words[0] {
		case "try":
			open = words[1:]
			if open[2] == string(choice.Approved) {
				k.approvals[open[0]+" "+open[1]]++
			}
		case "stored":
			k.apply(open)
			k.choices++
			open = nil
		case "recover":
			k.interrupted++
		}
	}
	var exit *exec.ExitError
	if err := cmd.Wait(); !errors.As(err, &exit) || exit.ExitCode() != -1 || ctx.Err() != nil {
		k.t.Fatalf("the process ended before it was killed, or did nothing more: %v", err)
	}
	return open
}

func (k *killing) apply(choice []string) {
	subject, version, kind := choice[0], choice[1], choice[2]
	if kind != "undo" {
		k.made[subject+" "+version] = kind
		return
	}
	maps.DeleteFunc(k.made, func(of, _ string) bool { return strings.HasPrefix(of, subject+" ") })
}

// verify looks at what is stored. last may be stored, or not.
func (k *killing) verify(last []string) {
	k.t.Helper()
	ctx := k.t.Context()
	s, err := store.Open(ctx, filepath.Join(k.dir, "store.db"), store.Options{})
	if err != nil {
		k.t.Fatal(err)
	}
	defer s.Close()
	k.verifyChoices(s, last)
	all, err := s.Operations(ctx, operation.Filter{Limit: 1 << 20})
	if err != nil {
		k.t.Fatal(err)
	}
	k.operations = len(all)
	started, updates, attempts := map[string]bool{}, map[string]int{}, map[string]int{}
	for _, op := range all {
		if started[op.IdempotencyKey] || !isAutomatic(op) {
			k.t.Errorf("operation %s of %s is a second one for %q", op.ID, op.Name, op.IdempotencyKey)
		}
		started[op.IdempotencyKey] = true
		key, err := update.Parse(op.Update)
		if err != nil || strings.Contains(op.Name, "-dogwatch-") {
			k.t.Errorf("operation %s is of %s, %v", op.ID, op.Name, err)
		}
		if !op.MayRetry() { // which it may when it was interrupted
			updates[key.Subject+" "+key.ToTag]++
		}
		purpose := strings.Join(strings.Fields(op.IdempotencyKey)[:3], " ")
		if attempts[purpose]++; attempts[purpose] > operation.MaxAttempts {
			k.t.Errorf("operation %s of %s is attempt %d", op.ID, op.Name, attempts[purpose])
		}
	}
	for of, n := range updates {
		may := k.approvals[of]
		if strings.HasPrefix(of, "local/auto") {
			may++
		}
		if n > may {
			k.t.Errorf("%s was updated %d times, for %d decisions", of, n, may)
		}
	}
	calls, err := os.ReadFile(filepath.Join(k.dir, "calls"))
	if err != nil && !errors.Is(err, os.ErrNotExist) {
		k.t.Fatal(err)
	}
	applied := map[string]bool{}
	for _, line := range strings.Split(string(calls), "\n") {
		if id, is := strings.CutPrefix(line, "apply "); is {
			if applied[id] {
				k.t.Errorf("operation %s was applied twice", id)
			}
			applied[id] = true
		}
	}
}

// verifyChoices compares the stored choices with those that were said to be.
func (k *killing) verifyChoices(s *store.Store, last []string) {
	k.t.Helper()
	stored, err := s.Choices(k.t.Context())
	if err != nil {
		k.t.Fatal(err)
	}
	is := map[string]string{}
	for _, c := range stored {
		is[c.Subject+" "+c.Version()] = string(c.Kind)
	}
	if maps.Equal(is, k.made) {
		return
	}
	before := maps.Clone(k.made)
	if last != nil {
		if k.apply(last); maps.Equal(is, k.made) {
			return
		}
	}
	k.t.Errorf("stored are %v\nwere %v\nand perhaps %v", written(is), written(before), last)
}

func written(choices map[string]string) []string {
	var all []string
	for of, kind := range choices {
		all = append(all, of+" "+kind)
	}
	slices.Sort(all)
	return all
}
