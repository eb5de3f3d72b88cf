package webpush

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/hashicorp/go-hclog"

	"github.com/dogwatch/dogwatch/internal/webpushtest"
	"github.com/dogwatch/dogwatch/sdk"
	"github.com/dogwatch/dogwatch/sdk/trigger"
)

var noon = time.Date(2026, 11, 28, 12, 0, 0, 0, time.UTC)

// memory is a store of tests.
type memory struct {
	mu      sync.Mutex
	key     []byte
	devices []Device
	sent    map[string][]string
}

func (m *memory) WebPushKey(_ context.Context, fresh []byte) ([]byte, error) {
	if m.key == nil {
		m.key = fresh
	}
	return m.key, nil
}

func (m *memory) WebPushDevices(context.Context) ([]Device, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	return slices.Clone(m.devices), nil
}

func (m *memory) AddWebPushDevice(_ context.Context, d Device, most int) error {
	if len(m.devices) >= most {
		return ErrFull
	}
	m.devices = append(m.devices, d)
	return nil
}

func (m *memory) change(id string, change func(*Device)) {
	m.mu.Lock()
	defer m.mu.Unlock()
	for i := range m.devices {
		if m.devices[i].ID == id {
			change(&m.devices[i])
		}
	}
}

func (m *memory) RemoveWebPushDevice(_ context.Context, id string) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.devices = slices.DeleteFunc(m.devices, func(d Device) bool { return d.ID == id })
	return nil
}

func (m *memory) WebPushSent(_ context.Context, delivery string) ([]string, error) {
	return m.sent[delivery], nil
}

func (m *memory) RecordWebPush(_ context.Context, id, delivery string, at time.Time) error {
	m.change(id, func(d *Device) {
		d.Sent, d.Error = at, ""
		m.sent[delivery] = append(m.sent[delivery], id)
	})
	return nil
}

func (m *memory) RecordWebPushError(_ context.Context, id, text string) error {
	m.change(id, func(d *Device) { d.Error = text })
	return nil
}

// one is a trigger that notifies one device: it fails as errs say, by endpoint, and notes whom it notified.
type one struct {
	mu       sync.Mutex
	errs     map[string]error
	notified []string
}

func (o *one) Run(_ context.Context, req trigger.Request) error {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.notified = append(o.notified, filepath.Base(req.Device.Endpoint))
	return o.errs[filepath.Base(req.Device.Endpoint)]
}

func (o *one) calls() string {
	o.mu.Lock()
	defer o.mu.Unlock()
	slices.Sort(o.notified)
	text := strings.Join(o.notified, " ")
	o.notified = nil
	return text
}

// world has three devices: a, b and c.
type world struct {
	*Devices
	store   *memory
	now     time.Time
	secrets []string
	one     *one
}

func newWorld(t *testing.T, names ...string) *world {
	t.Helper()
	w := &world{store: &memory{sent: map[string][]string{}}, now: noon, one: &one{errs: map[string]error{}}}
	devices, err := New(t.Context(), Options{
		Store: w.store, Secrets: func(values ...string) { w.secrets = append(w.secrets, values...) },
		Log: hclog.NewNullLogger(), Now: func() time.Time { return w.now },
	})
	if err != nil {
		t.Fatal(err)
	}
	w.Devices = devices
	for _, name := range names {
		if _, err := devices.Subscribe(t.Context(), "ana", "Firefox/1 Android "+name, subscription(t, name)); err != nil {
			t.Fatal(err)
		}
	}
	return w
}

func subscription(t *testing.T, name string) Subscription {
	t.Helper()
	d, err := webpushtest.NewDevice()
	if err != nil {
		t.Fatal(err)
	}
	return Subscription{Endpoint: "https://push.example.org/recognisable-part/" + name, P256dh: d.P256dh(), Auth: d.Auth()}
}

func (w *world) run(t *testing.T, delivery string) error {
	t.Helper()
	return w.Notifier(w.one).Run(t.Context(), trigger.Request{Delivery: delivery, Title: "T"})
}

// TestNotifierRetry: whoever has a message does not get it again when the delivery is repeated for another device.
func TestNotifierRetry(t *testing.T) {
	w := newWorld(t, "a", "b", "c")
	w.one.errs["b"] = sdk.WithKind(sdk.ErrUnavailable, errors.New("it is down"))
	err := w.run(t, "d1")
	if !sdk.Retryable(err) || !strings.Contains(err.Error(), "Firefox on Android of ana: it is down") || w.one.calls() != "a b c" {
		t.Fatalf("%v", err)
	}
	if all, _ := w.All(t.Context()); all[0].Error != "" || !all[0].Sent.Equal(noon) || all[1].Error != "it is down" ||
		!all[1].Sent.IsZero() {
		t.Errorf("%+v", all)
	}
	delete(w.one.errs, "b")
	if err := w.run(t, "d1"); err != nil || w.one.calls() != "b" {
		t.Errorf("again: %v", err)
	}
	if all, _ := w.All(t.Context()); all[1].Error != "" {
		t.Errorf("%+v", all[1])
	}
	if err := w.run(t, "d2"); err != nil || w.one.calls() != "a b c" {
		t.Errorf("another delivery: %v", err)
	}
}

// TestNotifierGoneDevices are removed, and are no failure for the others.
func TestNotifierGoneDevices(t *testing.T) {
	w := newWorld(t, "a", "b")
	w.one.errs["a"] = fmt.Errorf("410: %w", sdk.ErrNotFound)
	if err := w.run(t, "d1"); err != nil || w.one.calls() != "a b" {
		t.Errorf("%v", err)
	}
	w.one.errs["b"] = sdk.ErrNotFound
	if err := w.run(t, "d2"); err == nil || sdk.Retryable(err) || sdk.Remedy(err) == "" || w.one.calls() != "b" {
		t.Errorf("nobody is notified: %v", err)
	}
	if err := w.run(t, "d3"); err == nil || w.one.calls() != "" {
		t.Errorf("nobody is there: %v", err)
	}
}

func TestNotifierPermanentFailure(t *testing.T) {
	w := newWorld(t, "a", "b")
	w.one.errs["a"] = sdk.WithKind(sdk.ErrUnauthorized, errors.New("another key"))
	if err := w.run(t, "d1"); err == nil || sdk.Retryable(err) {
		t.Errorf("%v", err)
	}
}

// TestNotifierRateLimit: a push service that limits the rate is not asked before the time that it said, and does not
// hold up messages to other devices, as an *sdk.RateLimitedError of the trigger would.
func TestNotifierRateLimit(t *testing.T) {
	w := newWorld(t, "a", "b")
	w.one.errs["a"] = sdk.RateLimited(time.Hour, errors.New("slow down"))
	err := w.run(t, "d1")
	var limited *sdk.RateLimitedError
	if !sdk.Retryable(err) || errors.As(err, &limited) || w.one.calls() != "a b" {
		t.Fatalf("%v", err)
	}
	w.now = noon.Add(59 * time.Minute)
	if err := w.run(t, "d1"); !sdk.Retryable(err) || w.one.calls() != "" || !strings.Contains(err.Error(), "13:00") {
		t.Errorf("too early: %v", err)
	}
	if err := w.run(t, "d2"); !sdk.Retryable(err) || w.one.calls() != "b" {
		t.Errorf("another message: %v", err)
	}
	delete(w.one.errs, "a")
	w.now = noon.Add(time.Hour)
	if err := w.run(t, "d1"); err != nil || w.one.calls() != "a" {
		t.Errorf("in time: %v", err)
	}
}

func TestTestOfOneDevice(t *testing.T) {
	w := newWorld(t, "a", "b")
	all, _ := w.All(t.Context())
	if err := w.Test(t.Context(), all[1].ID, w.one); err != nil || w.one.calls() != "b" {
		t.Error(err)
	}
	if err := w.Test(t.Context(), "nosuchdevice", w.one); !errors.Is(err, ErrNotFound) {
		t.Error(err)
	}
}

// TestSubscriptionsAreChecked: they come from a browser, and may be anything. Nothing of them is repeated.
func TestSubscriptionsAreChecked(t *testing.T) {
	w := newWorld(t)
	good := subscription(t, "a")
	for field, changes := range map[string][]func(*Subscription){
		"endpoint": {
			func(s *Subscription) { s.Endpoint = "" },
			func(s *Subscription) { s.Endpoint = "http://push.example.org/recognisable" },
			func(s *Subscription) { s.Endpoint = "https:///recognisable" },
			func(s *Subscription) { s.Endpoint = "https://ana:recognisable@push.example.org/" },
			func(s *Subscription) { s.Endpoint = "https://push.example.org/#recognisable" },
			func(s *Subscription) { s.Endpoint = "file:///recognisable" },
			func(s *Subscription) { s.Endpoint = "https://push.example.org/" + strings.Repeat("x", maxEndpoint) },
		},
		"keys.p256dh": {
			func(s *Subscription) { s.P256dh = "" },
			func(s *Subscription) { s.P256dh = "recognisable" },
			func(s *Subscription) { s.P256dh = encode(make([]byte, 65)) },
		},
		"keys.auth": {
			func(s *Subscription) { s.Auth = "" },
			func(s *Subscription) { s.Auth = "recognisable!" },
			func(s *Subscription) { s.Auth = encode(make([]byte, 17)) },
		},
	} {
		for i, change := range changes {
			s := good
			change(&s)
			_, err := w.Subscribe(t.Context(), "ana", "", s)
			var invalid *sdk.InvalidError
			if !errors.As(err, &invalid) || invalid.Fields[0].Field != field || strings.Contains(err.Error(), "recognisable") {
				t.Errorf("%s %d: %v", field, i, err)
			}
		}
	}
	if len(w.store.devices) > 0 {
		t.Error("a wrong one is stored")
	}
	good.P256dh += "=" // as some browsers' libraries write it
	d, err := w.Subscribe(t.Context(), "ana", "", good)
	if err != nil || strings.Contains(d.P256dh, "=") {
		t.Errorf("%+v, %v", d, err)
	}
}

// TestSecretsOfDevices are known before anything can fail that repeats them, also after a restart.
func TestSecretsOfDevices(t *testing.T) {
	w := newWorld(t, "a")
	again := []string{}
	if _, err := New(t.Context(), Options{
		Store: w.store, Secrets: func(values ...string) { again = append(again, values...) }, Log: hclog.NewNullLogger(),
		Now: time.Now,
	}); err != nil {
		t.Fatal(err)
	}
	d := w.store.devices[0]
	for _, secret := range []string{d.Endpoint, "recognisable-part", d.P256dh, d.Auth, w.private} {
		if !slices.Contains(w.secrets, secret) || !slices.Contains(again, secret) {
			t.Errorf("%q is not known as a secret", secret)
		}
	}
	if strings.Contains(d.ID, "push") || len(d.ID) != 16 || slices.Contains(w.secrets, w.PublicKey()) {
		t.Errorf("id %s, or the public key is secret", d.ID)
	}
}

// TestSecretsAreBounded: what is not stored, of which there is no end, is not remembered as a secret either.
func TestSecretsAreBounded(t *testing.T) {
	w := newWorld(t)
	for i := range MaxDevices {
		if _, err := w.Subscribe(t.Context(), "ana", "", subscription(t, fmt.Sprint(i))); err != nil {
			t.Fatal(err)
		}
	}
	before := len(w.secrets)
	if _, err := w.Subscribe(t.Context(), "ana", "", subscription(t, "more")); !errors.Is(err, ErrFull) {
		t.Fatal(err)
	}
	if after := len(w.secrets); after != before {
		t.Errorf("%d secrets more", after-before)
	}
}

func TestCheckPublic(t *testing.T) {
	for host, want := range map[string]string{
		"8.8.8.8:8443": "", "[2001:4860:4860::8888]": "", "nosuchname.invalid": "",
		"192.168.1.2": "privatetarget: true", "127.0.0.1:8443": "privatetarget: true", "[::1]": "privatetarget: true",
		"10.0.0.1": "privatetarget: true", "169.254.169.254": "privatetarget: true", "localhost": "privatetarget: true",
		"[::ffff:10.0.0.1]": "privatetarget: true", "ana:b@8.8.8.8": "want the address of a push service",
	} {
		s := subscription(t, "a")
		s.Endpoint = "https://" + host + "/recognisable"
		err := s.CheckPublic(t.Context())
		var invalid *sdk.InvalidError
		if (want == "") != (err == nil) || err != nil &&
			(!errors.As(err, &invalid) || invalid.Fields[0].Field != "endpoint" || !strings.Contains(err.Error(), want) ||
				strings.Contains(err.Error(), "recognisable")) {
			t.Errorf("%s: %v, want %q", host, err, want)
		}
	}
}

func TestNameOf(t *testing.T) {
	for userAgent, want := range map[string]string{
		"Mozilla/5.0 (Android 14; Mobile; rv:132.0) Gecko/132.0 Firefox/132.0":                                  "Firefox on Android",
		"Mozilla/5.0 (X11; Linux x86_64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/130.0.0.0 Safari/537.36": "Chrome on Linux",
		"Mozilla/5.0 (Windows NT 10.0; Win64; x64) AppleWebKit/537.36 Chrome/130.0 Safari/537.36 Edg/130.0":     "Edge on Windows",
		"Mozilla/5.0 (iPhone; CPU iPhone OS 18_0 like Mac OS X) AppleWebKit/605.1.15 Version/18.0 Safari/604.1": "Safari on iPhone",
		"Mozilla/5.0 (Macintosh; Intel Mac OS X 10_15_7) AppleWebKit/605.1.15 Version/18.0 Safari/605.1.15":     "Safari on macOS",
		"<script>": "Browser",
		"":         "Browser",
	} {
		if got := nameOf(userAgent); got != want {
			t.Errorf("%q: %q, want %q", userAgent, got, want)
		}
	}
}
