package lease_test

import (
	"bytes"
	"context"
	"errors"
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/hashicorp/go-hclog"

	"github.com/dogwatch/dogwatch/plugins/watchers/kubernetes/kubernetestest"
	"github.com/dogwatch/dogwatch/plugins/watchers/kubernetes/lease"
	"github.com/dogwatch/dogwatch/sdk"
)

// lasting is short, since tests wait for what expires.
const lasting = 900 * time.Millisecond

// text is a log.
type text struct {
	mu sync.Mutex
	bytes.Buffer
}

func (x *text) Write(p []byte) (int, error) {
	x.mu.Lock()
	defer x.mu.Unlock()
	return x.Buffer.Write(p)
}

func (x *text) has(said string) bool {
	x.mu.Lock()
	defer x.mu.Unlock()
	return strings.Contains(x.String(), said)
}

func of(t *testing.T, s *kubernetestest.Leases, name string) (*lease.Lease, *text) {
	t.Helper()
	log := &text{}
	l, err := lease.New(lease.Options{
		Name: name, Namespace: "tools", Kubeconfig: s.Kubeconfig, Duration: lasting, UserAgent: "test",
		Log: hclog.New(&hclog.LoggerOptions{Output: log}),
	})
	if err != nil {
		t.Fatal(err)
	}
	return l, log
}

func await(t *testing.T, what string, is func() bool) {
	t.Helper()
	for deadline := time.Now().Add(20 * time.Second); !is(); time.Sleep(time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatalf("never: %s", what)
		}
	}
}

// holding acquires a lease and renews it until stop, which returns how that ended.
func holding(t *testing.T, l *lease.Lease) (stop func() error) {
	t.Helper()
	if err := l.Acquire(t.Context()); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	go func() { ended <- l.Hold(ctx) }()
	return func() error {
		cancel()
		return <-ended
	}
}

func TestSecondWaitsUntilReleased(t *testing.T) {
	t.Parallel()
	s := kubernetestest.NewLeases(t, "tools", "dogwatch")
	first, _ := of(t, s, "dogwatch")
	stop := holding(t, first)
	holder := s.Holder()
	second, log := of(t, s, "dogwatch")
	acquired := make(chan error, 1)
	go func() { acquired <- second.Acquire(t.Context()) }()
	await(t, "the second says who holds it", func() bool { return log.has("holder=" + holder) })
	renewed := s.Patches()
	await(t, "two more durations of renewals", func() bool { return s.Patches() > renewed+12 })
	select {
	case err := <-acquired:
		t.Fatalf("both hold the lease: %v", err)
	default:
	}
	if err := stop(); err != nil {
		t.Errorf("it was lost: %v", err)
	}
	if until := time.Until(first.Until()); until <= 0 {
		t.Errorf("the holder takes it for expired, %s ago", -until)
	}
	if err := first.Release(t.Context()); err != nil || s.Holder() == holder {
		t.Fatalf("%v; it still holds the lease", err)
	}
	if err := <-acquired; err != nil || s.Holder() == holder || s.Holder() == "" {
		t.Errorf("%v, held by %q", err, s.Holder())
	}
}

// TestClockOfHolderDoesNotCount: a lease that says it was renewed in a year, or a year ago, expires once it stays as it
// is for as long as it lasts.
func TestClockOfHolderDoesNotCount(t *testing.T) {
	t.Parallel()
	for _, renewed := range []string{"2027-11-28T10:00:00.000000Z", "2025-11-28T10:00:00.000000Z", "soon"} {
		s := kubernetestest.NewLeases(t, "tools", "dogwatch")
		s.Change(map[string]any{"holderIdentity": "gone", "leaseDurationSeconds": 1, "renewTime": renewed})
		l, _ := of(t, s, "dogwatch")
		began := time.Now()
		if err := l.Acquire(t.Context()); err != nil {
			t.Fatal(err)
		}
		if waited := time.Since(began); waited < time.Second {
			t.Errorf("%s: it took over after %s, before the lease had expired", renewed, waited)
		}
	}
}

func TestLost(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		does func(*kubernetestest.Leases)
		want string
	}{
		"taken": {func(s *kubernetestest.Leases) {
			s.Change(map[string]any{"holderIdentity": "the\nother"})
		}, "dogwatch in namespace tools is held by"},
		"server gone": {func(s *kubernetestest.Leases) { s.Refuse(http.StatusServiceUnavailable, "shutting down") },
			"could not be renewed for 600ms: patch leases.coordination.k8s.io in namespace tools"},
		"lease gone": {func(s *kubernetestest.Leases) { s.Refuse(http.StatusNotFound, "not found") },
			"could not be renewed for 600ms"},
		"denied": {func(s *kubernetestest.Leases) {
			s.Refuse(http.StatusForbidden, `leases "dogwatch" is forbidden: User "ana" cannot patch resource`)
		}, "resourceNames: [dogwatch], verbs: [get, patch]}"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := kubernetestest.NewLeases(t, "tools", "dogwatch")
			l, _ := of(t, s, "dogwatch")
			if err := l.Acquire(t.Context()); err != nil {
				t.Fatal(err)
			}
			test.does(s)
			err := l.Hold(t.Context())
			if !errors.Is(err, lease.ErrLost) || !strings.Contains(err.Error(), test.want) || strings.Contains(err.Error(), "\n") {
				t.Errorf("%v, want %q", err, test.want)
			}
			if !l.Until().After(time.Now()) {
				t.Error("it was noticed only after the lease had expired")
			}
		})
	}
}

// TestOthersMayAnnotate: a change of the lease that leaves the holder does not end it, nor a failure that passes.
func TestOthersMayAnnotate(t *testing.T) {
	t.Parallel()
	s := kubernetestest.NewLeases(t, "tools", "dogwatch")
	l, log := of(t, s, "dogwatch")
	stop := holding(t, l)
	for range 2 {
		s.Change(map[string]any{"preferredHolder": "ana"})
		renewed := s.Patches()
		await(t, "a renewal", func() bool { return s.Patches() > renewed })
	}
	s.Refuse(http.StatusTooManyRequests, "too many")
	await(t, "a renewal that fails", func() bool { return log.has("renew the lease") })
	s.Refuse(0, "")
	renewed := s.Patches()
	await(t, "a renewal", func() bool { return s.Patches() > renewed })
	if err := stop(); err != nil {
		t.Error(err)
	}
	s.Change(map[string]any{"preferredHolder": "ben"}) // or a renewal whose answer was not awaited
	if err := l.Release(t.Context()); err != nil || s.Holder() != "" {
		t.Errorf("%v, held by %q", err, s.Holder())
	}
}

func TestWhatCannotBeAcquiredIsSaid(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		lease, want string
		code        int
		message     string
	}{
		"missing": {"other", "there is no lease other in namespace tools; create it", 0, ""},
		"denied": {"dogwatch", `{apiGroups: [\"coordination.k8s.io\"], resources: [leases], resourceNames: [dogwatch], verbs: [get, patch]}`,
			http.StatusForbidden, `leases "dogwatch" is forbidden: User "ana" cannot get resource`},
		"token": {"dogwatch", "renew it, or name another", http.StatusUnauthorized, "Unauthorized"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := kubernetestest.NewLeases(t, "tools", "dogwatch")
			s.Refuse(test.code, test.message)
			l, log := of(t, s, test.lease)
			ctx, cancel := context.WithCancel(t.Context())
			ended := make(chan error, 1)
			go func() { ended <- l.Acquire(ctx) }()
			await(t, test.want, func() bool { return log.has(test.want) })
			cancel()
			if err := <-ended; !errors.Is(err, context.Canceled) {
				t.Error(err)
			}
		})
	}
}

// TestInspect: who holds the lease, whether that one renews it, and what the role lacks, without a change.
func TestInspect(t *testing.T) {
	t.Parallel()
	ago := func(d time.Duration) string { return time.Now().Add(-d).UTC().Format(time.RFC3339Nano) }
	renewed := ago(10 * time.Second)
	const remedy = `{apiGroups: ["coordination.k8s.io"], resources: [leases], resourceNames: [dogwatch], verbs: [get, patch]}`
	for name, c := range map[string]struct {
		prepare func(*kubernetestest.Leases)
		want    string
		expired bool
		remedy  string
	}{
		"nobody": {func(*kubernetestest.Leases) {}, "dogwatch in namespace tools is held by nobody: the next Dogwatch that asks for it acts", false, ""},
		"held": {func(s *kubernetestest.Leases) {
			s.Change(map[string]any{"holderIdentity": "pod-1\n", "leaseDurationSeconds": 30, "acquireTime": "2026-11-28T10:00:00Z", "renewTime": renewed})
		}, "dogwatch in namespace tools is held by pod-1 since 2026-11-28T10:00:00Z, and was renewed at " + renewed, false, ""},
		"expired": {func(s *kubernetestest.Leases) {
			s.Change(map[string]any{"holderIdentity": "pod-1", "leaseDurationSeconds": 5, "acquireTime": "x", "renewTime": renewed})
		}, "dogwatch in namespace tools is held by pod-1 since x, and was renewed at " + renewed, true, ""},
		"may not get": {func(s *kubernetestest.Leases) {
			s.Refuse(http.StatusForbidden, `leases "dogwatch" is forbidden: User "ana" cannot get resource`)
		}, "get leases.coordination.k8s.io in namespace tools: ana may not", false, remedy},
		"may not patch": {func(s *kubernetestest.Leases) {
			s.RefuseChanges(`leases "dogwatch" is forbidden: User "ana" cannot patch resource`)
		}, "patch leases.coordination.k8s.io in namespace tools: ana may not", false, remedy},
	} {
		s := kubernetestest.NewLeases(t, "tools", "dogwatch")
		c.prepare(s)
		l, _ := of(t, s, "dogwatch")
		said, expired, err := l.Inspect(t.Context())
		if err != nil {
			said = err.Error()
		}
		if said != c.want || expired != c.expired || !strings.Contains(sdk.Remedy(err), c.remedy) || s.Patches() != 0 {
			t.Errorf("%s: %q, expired %v, remedy %q, %d changes", name, said, expired, sdk.Remedy(err), s.Patches())
		}
	}
}

func TestMistakesNameTheSetting(t *testing.T) {
	t.Parallel()
	for want, o := range map[string]lease.Options{
		"lease.kubeconfig: open /nowhere":     {Name: "dogwatch", Namespace: "tools", Kubeconfig: "/nowhere"},
		"lease.kubeconfig: is not set, and":   {Name: "dogwatch", Namespace: "tools"},
		"lease.namespace: is not set, and th": {Name: "dogwatch", Kubeconfig: kubernetestest.NewLeases(t, "tools", "dogwatch").Kubeconfig},
	} {
		var invalid *sdk.InvalidError
		if _, err := lease.New(o); !errors.As(err, &invalid) || !strings.HasPrefix(err.Error(), want) {
			t.Errorf("%v, want %q", err, want)
		}
	}
}
