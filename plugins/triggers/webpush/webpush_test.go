package webpush

import (
	"bytes"
	"crypto/ecdsa"
	"crypto/elliptic"
	"encoding/base64"
	"encoding/json"
	"errors"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/golang-jwt/jwt/v5"

	"github.com/dogwatch/dogwatch/internal/webpushtest"
	"github.com/dogwatch/dogwatch/plugins/triggers/internal/golden"
	"github.com/dogwatch/dogwatch/plugins/triggers/internal/sink"
	"github.com/dogwatch/dogwatch/sdk"
	"github.com/dogwatch/dogwatch/sdk/plugintest"
	"github.com/dogwatch/dogwatch/sdk/trigger"
	"github.com/dogwatch/dogwatch/sdk/triggertest"
)

// The key of the host, that of the application server in RFC 8291, appendix A.
const (
	hostKey       = "yfWPiYE-n46HLnH0KqZOF1fJJU3MYrct3AELtAQ-oRw"
	hostPublicKey = "BP4z9KsN6nGRTbVYI_c7VJSPQTBtkgcy27mlmlMoZIIgDll6e3vCYLocInmYWAmS6TlzAC8wEqKK6PBru3jl7A8"
)

// endpointPath is what is secret of an endpoint.
const endpointPath = "/push/recognisable-endpoint"

// service plays a push service with one subscription, and is the device as well.
type service struct {
	*sink.Sink
	device webpushtest.Device
}

// newService starts a push service that refuses what one refuses.
func newService(t testing.TB) service {
	t.Helper()
	device, err := webpushtest.NewDevice()
	if err != nil {
		t.Fatal(err)
	}
	s := service{device: device}
	s.Sink = sink.New(t, func(c sink.Call) (int, string) {
		if problem := s.wrong(c); problem != "" {
			return http.StatusBadRequest, problem
		}
		return http.StatusCreated, ""
	})
	return s
}

// wrong says what is wrong with a request, by RFC 8030, 8188 and 8292.
func (s service) wrong(c sink.Call) string {
	ttl, err := strconv.Atoi(c.Header.Get("TTL"))
	topic := c.Header.Get("Topic")
	_, notBase64 := base64.RawURLEncoding.DecodeString(topic)
	switch {
	case c.Method != "POST" || c.URI != endpointPath:
		return "no such subscription"
	case err != nil || ttl < 0:
		return "TTL"
	case c.Header.Get("Content-Encoding") != "aes128gcm":
		return "Content-Encoding"
	case len(topic) > 32 || notBase64 != nil:
		return "Topic"
	case len(c.Body) > 4096:
		return "size"
	}
	if _, err := s.device.Decrypt(c.Body); err != nil {
		return err.Error()
	}
	return s.unsigned(c)
}

// unsigned says what is wrong with the signature of a request.
func (s service) unsigned(c sink.Call) string {
	credentials, signed := strings.CutPrefix(c.Header.Get("Authorization"), "vapid t=")
	token, key, split := strings.Cut(credentials, ", k=")
	if !signed || !split || key != hostPublicKey {
		return "Authorization"
	}
	raw, err := base64.RawURLEncoding.DecodeString(key)
	if err != nil {
		return err.Error()
	}
	public, err := ecdsa.ParseUncompressedPublicKey(elliptic.P256(), raw)
	if err != nil {
		return err.Error()
	}
	var claims jwt.RegisteredClaims
	if _, err := jwt.ParseWithClaims(token, &claims, func(*jwt.Token) (any, error) { return public, nil },
		jwt.WithAudience("http://"+c.Host), jwt.WithExpirationRequired(), jwt.WithSubject("mailto:ana@example.org"),
		jwt.WithValidMethods([]string{"ES256"})); err != nil {
		return err.Error()
	}
	if time.Until(claims.ExpiresAt.Time) > 24*time.Hour {
		return "exp is more than a day ahead"
	}
	return ""
}

// subscription is the device as the host hands it out, at a service of a URL.
func (s service) subscription(url string) *trigger.Device {
	return &trigger.Device{Endpoint: url + endpointPath, P256dh: s.device.P256dh(), Auth: s.device.Auth(), Key: hostKey}
}

func options() map[string]any {
	return map[string]any{"subject": "mailto:ana@example.org", "privatetarget": true}
}

// send delivers a request, which the service must take, and returns how it arrived and what the device reads.
func send(t *testing.T, o map[string]any, req trigger.Request) (sink.Call, []byte) {
	t.Helper()
	s := newService(t)
	req.Device = s.subscription(s.URL)
	if err := deliver(t, o, req); err != nil {
		t.Fatal(err)
	}
	call := s.Last(t)
	text, err := s.device.Decrypt(call.Body)
	if err != nil {
		t.Fatal(err)
	}
	return call, text
}

func deliver(t *testing.T, o map[string]any, req trigger.Request) error {
	t.Helper()
	instance, err := Type().New(sdk.Env{UserAgent: "dogwatch/test"}, o)
	if err != nil {
		t.Fatal(err)
	}
	return instance.Run(t.Context(), req)
}

func TestConformance(t *testing.T) {
	var urls sync.Map // of the service, by test
	at := func(t *testing.T, url string) map[string]any {
		urls.Store(t, url)
		return options()
	}
	s := newService(t)
	c := triggertest.Case{
		Options: func(t *testing.T) map[string]any { return at(t, s.URL) },
		Hanging: func(t *testing.T, reached func()) map[string]any { return at(t, plugintest.Hanging(t, reached)) },
		Adapt: func(t *testing.T, req trigger.Request) trigger.Request {
			url, _ := urls.Load(t)
			req.Device = s.subscription(url.(string))
			return req
		},
		Invalid: []triggertest.Invalid{
			{Field: "subject", Set: map[string]any{"subject": "ana@example.org"}},
			{Field: "subject", Set: map[string]any{"subject": "mailto:ana"}},
			{Field: "subject", Set: map[string]any{"subject": "http://example.org"}},
			{Field: "ttl", Set: map[string]any{"ttl": "673h"}},
			{Field: "ttl", Set: map[string]any{"ttl": "-1s"}},
			{Field: "tls.cafile", Set: map[string]any{"tls.cafile": "nosuchfile"}},
			{Field: "proxy", Set: map[string]any{"proxy": "ftp://host"}},
		},
	}
	for _, f := range triggertest.HTTPFailures(func(url string) map[string]any { return map[string]any{"url": url} }) {
		failing := f.Options
		f.Options = func(t *testing.T) map[string]any { return at(t, failing(t)["url"].(string)) }
		c.Failing = append(c.Failing, f)
	}
	triggertest.Run(t, Type(), c)
}

func TestPayloads(t *testing.T) {
	for name, req := range golden.Requests() {
		t.Run(name, func(t *testing.T) {
			call, text := send(t, options(), req)
			var b bytes.Buffer
			if err := json.Indent(&b, text, "", "  "); err != nil {
				t.Fatal(err)
			}
			golden.Check(t, name+".json", b.String()+"\n")
			if got := call.Header.Get("User-Agent"); got != "dogwatch/test" {
				t.Errorf("User-Agent %q", got)
			}
		})
	}
}

// TestHeaders: how long a message waits, how urgent it is, and which older one it replaces.
func TestHeaders(t *testing.T) {
	failed := trigger.Request{Batch: true, Event: &trigger.Event{Type: trigger.UpdateFailed, Watcher: "local",
		Container: "nginx"}}
	call, _ := send(t, map[string]any{"subject": "mailto:ana@example.org", "privatetarget": true, "ttl": "90m"}, failed)
	if ttl, urgency := call.Header.Get("TTL"), call.Header.Get("Urgency"); ttl != "5400" || urgency != "high" {
		t.Errorf("TTL %q, urgency %q", ttl, urgency)
	}
	call, _ = send(t, options(), triggertest.Request("nginx"))
	if ttl, urgency := call.Header.Get("TTL"), call.Header.Get("Urgency"); ttl != "86400" || urgency != "normal" {
		t.Errorf("TTL %q, urgency %q", ttl, urgency)
	}
}

func TestTopics(t *testing.T) {
	device := &trigger.Device{Auth: "secret"}
	topic := func(req trigger.Request) string {
		req.Device = device
		return topicOf(req)
	}
	nginx := triggertest.Request("nginx")
	c := nginx.Containers[0]
	newer := triggertest.Request("nginx")
	newer.Title, newer.Delivery = "another", "another"
	ended := trigger.Request{Event: &trigger.Event{Type: trigger.UpdateApplied, Watcher: c.Watcher, Container: c.Name}}
	if a := topic(nginx); a == "" || a != topic(newer) || a != topic(ended) {
		t.Errorf("messages about one container have the topics %q, %q and %q", a, topic(newer), topic(ended))
	}
	if topic(nginx) == topic(triggertest.Request("redis")) {
		t.Error("two containers have one topic")
	}
	if got := topic(triggertest.Request("nginx", "redis")); got != "" {
		t.Errorf("a message about several containers has the topic %q", got)
	}
	before := topic(nginx)
	if device.Auth = "other"; topic(nginx) == before {
		t.Error("two devices have the same topic: a push service can tell what it stands for")
	}
}

// TestButtons are those for which the host has sent links, in the words of the page.
func TestButtons(t *testing.T) {
	req := triggertest.Request("nginx")
	id := req.Containers[0].ID
	for _, k := range []string{trigger.ActionApprove, trigger.ActionSkip, trigger.ActionSnooze, trigger.ActionDecide} {
		req.Actions = append(req.Actions,
			trigger.Action{ContainerID: id, Kind: k, Label: k, URL: "https://dogwatch.example.org/decide#" + k})
	}
	var p payload
	_, text := send(t, options(), req)
	if err := json.Unmarshal(text, &p); err != nil {
		t.Fatal(err)
	}
	want := []button{
		{"approve", "Update", "https://dogwatch.example.org/decide#approve"},
		{"snooze", "Not now", "https://dogwatch.example.org/decide#snooze"},
	}
	if len(p.Actions) != 2 || p.Actions[0] != want[0] || p.Actions[1] != want[1] {
		t.Errorf("%+v", p.Actions)
	}
	if want := "containers/" + url.PathEscape(req.Containers[0].Watcher) + "/nginx"; p.Path != want {
		t.Errorf("a tap opens %s, want %s", p.Path, want)
	}
}

// TestResponses are those of RFC 8030, and none repeats what is secret of the device.
func TestResponses(t *testing.T) {
	limited, invalid := new(sdk.RateLimitedError), new(sdk.InvalidError)
	for status, is := range map[int]func(error) bool{
		http.StatusCreated:               func(err error) bool { return err == nil },
		http.StatusOK:                    func(err error) bool { return err == nil },
		http.StatusForbidden:             func(err error) bool { return errors.Is(err, sdk.ErrUnauthorized) },
		http.StatusNotFound:              func(err error) bool { return errors.Is(err, sdk.ErrNotFound) },
		http.StatusGone:                  func(err error) bool { return errors.Is(err, sdk.ErrNotFound) },
		http.StatusRequestEntityTooLarge: func(err error) bool { return errors.As(err, &invalid) },
		http.StatusTooManyRequests: func(err error) bool {
			return errors.As(err, &limited) && limited.After == 2*time.Minute
		},
		http.StatusServiceUnavailable: func(err error) bool { return errors.Is(err, sdk.ErrUnavailable) },
	} {
		device := newService(t).subscription("")
		s := sink.Serve(t, func(w http.ResponseWriter, c sink.Call) {
			w.Header().Set("Retry-After", "120")
			w.WriteHeader(status)
			_, _ = w.Write([]byte("no: " + c.URI + " " + device.Auth + " " + device.P256dh + " " + c.Header.Get("Authorization")))
		})
		req := triggertest.Request("nginx")
		device.Endpoint = s.URL + endpointPath
		req.Device = device
		err := deliver(t, options(), req)
		if !is(err) {
			t.Errorf("%d: %v", status, err)
		}
		for _, secret := range []string{"recognisable", device.Auth, device.P256dh, hostKey, "vapid t="} {
			if err != nil && strings.Contains(err.Error(), secret) {
				t.Errorf("%d: the error has a secret: %v", status, err)
			}
		}
	}
}

// TestPrivateEndpoints are refused unless the operator allows them: a browser names them.
func TestPrivateEndpoints(t *testing.T) {
	s := newService(t)
	req := triggertest.Request("nginx")
	req.Device = s.subscription(s.URL)
	err := deliver(t, map[string]any{"subject": "mailto:ana@example.org"}, req)
	if err == nil || len(s.Calls()) > 0 || strings.Contains(err.Error(), "recognisable") {
		t.Errorf("%v, %d requests", err, len(s.Calls()))
	}
	req.Device.Endpoint = strings.Replace(req.Device.Endpoint, "127.0.0.1", "localhost", 1)
	if err := deliver(t, map[string]any{"subject": "mailto:ana@example.org"}, req); err == nil || len(s.Calls()) > 0 {
		t.Errorf("by name: %v, %d requests", err, len(s.Calls()))
	}
}

// TestUnusableDevices are refused without a request, and without their keys in the error.
func TestUnusableDevices(t *testing.T) {
	s := newService(t)
	for name, change := range map[string]func(*trigger.Request){
		"none":     func(r *trigger.Request) { r.Device = nil },
		"p256dh":   func(r *trigger.Request) { r.Device.P256dh = "recognisable-key" },
		"auth":     func(r *trigger.Request) { r.Device.Auth = "recognisable key" },
		"host":     func(r *trigger.Request) { r.Device.Key = "recognisable-key" },
		"endpoint": func(r *trigger.Request) { r.Device.Endpoint = "file:///recognisable" },
	} {
		req := triggertest.Request("nginx")
		req.Device = s.subscription(s.URL)
		change(&req)
		if err := deliver(t, options(), req); err == nil || strings.Contains(err.Error(), "recognisable") {
			t.Errorf("%s: %v", name, err)
		}
	}
	if len(s.Calls()) > 0 {
		t.Error("requests were made")
	}
}

// Whatever the text, the message is one record that push services take.
func FuzzPayloadSize(f *testing.F) {
	f.Add("title", "body")
	f.Add(strings.Repeat("\x00", 300), strings.Repeat("\x01", 5000))
	f.Add(strings.Repeat("🐕", 200), strings.Repeat("\"", 4000))
	f.Fuzz(func(t *testing.T, title, text string) {
		payload, err := payloadOf(trigger.Request{Title: title, Body: text})
		if err != nil || len(payload) > maxPayloadBytes {
			t.Errorf("%d bytes, %v", len(payload), err)
		}
	})
}
