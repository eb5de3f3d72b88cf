package e2e

import (
	"encoding/json"
	"encoding/pem"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/dogwatch/dogwatch/internal/webpushtest"
	"github.com/dogwatch/dogwatch/plugins/registries/registrysim"
)

// pushService takes messages for devices, each at a path of its own, until one is gone.
type pushService struct {
	*httptest.Server
	certificate string // a file
	bodies      chan []byte
}

func newPushService(t *testing.T) *pushService {
	t.Helper()
	s := &pushService{bodies: make(chan []byte, 100), certificate: filepath.Join(openDir(t), "ca.pem")}
	s.Server = httptest.NewTLSServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, err := io.ReadAll(r.Body)
		if err != nil {
			return
		}
		if strings.HasSuffix(r.URL.Path, "/gone") {
			w.WriteHeader(http.StatusGone)
			return
		}
		s.bodies <- body
		w.WriteHeader(http.StatusCreated)
	}))
	t.Cleanup(s.Close)
	must(t, os.WriteFile(s.certificate,
		pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: s.Certificate().Raw}), 0o644))
	return s
}

// TestWebPush: a browser that has subscribed gets messages about updates, also after a kill, and one that is gone is
// forgotten. No response and no log has what is secret of them.
func TestWebPush(t *testing.T) {
	t.Parallel()
	s := newPushService(t)
	f := newFleet(t, 1, registrysim.Options{})
	in := install(t, append(f.env(), "DOGWATCH_TRIGGER_WEBPUSH_DEVICES_SUBJECT=mailto:ana@example.org",
		"DOGWATCH_TRIGGER_WEBPUSH_DEVICES_PRIVATETARGET=true", "DOGWATCH_TRIGGER_WEBPUSH_DEVICES_BACKLOG=each",
		"DOGWATCH_TRIGGER_WEBPUSH_DEVICES_TLS_CAFILE="+s.certificate)...)
	d := in.start()
	device, err := webpushtest.NewDevice()
	must(t, err)
	subscribe := func(path string) {
		t.Helper()
		body := fmt.Sprintf(`{"endpoint":"%s/%s","keys":{"p256dh":%q,"auth":%q}}`, s.URL, path, device.P256dh(),
			device.Auth())
		if status, got := d.request(http.MethodPost, "/api/push/devices", body); status != http.StatusCreated {
			t.Fatalf("%d %s", status, got)
		}
	}
	eventually(t, "the trigger can be used", func() bool {
		_, body := d.request(http.MethodGet, "/api/push", "")
		return strings.Contains(string(body), "webpush.devices")
	})
	subscribe("recognisable-endpoint")
	subscribe("recognisable-endpoint/gone")
	_, before := d.request(http.MethodGet, "/api/push", "")
	must(t, d.cmd.Process.Signal(syscall.SIGKILL))
	<-d.done
	d = in.start()
	var after struct {
		PublicKey string
		Devices   []struct{ ID string }
	}
	eventually(t, "the devices are there", func() bool {
		_, body := d.request(http.MethodGet, "/api/push", "")
		must(t, json.Unmarshal(body, &after))
		return strings.Contains(string(body), "webpush.devices")
	})
	if len(after.Devices) != 2 || !strings.Contains(string(before), after.PublicKey) {
		t.Fatalf("before %s, after %+v", before, after)
	}
	f.registry(0).Push(f.repo(0), "1.1.0")
	if status, body := d.request(http.MethodPost, "/api/containers/watch", ""); status != http.StatusOK {
		t.Fatalf("%d %s", status, body)
	}
	text, err := device.Decrypt(<-s.bodies)
	if must(t, err); !strings.Contains(string(text), "1.1.0") || !strings.Contains(string(text), `"path":"containers/`) {
		t.Errorf("%s", text)
	}
	eventually(t, "who is gone is forgotten", func() bool {
		_, body := d.request(http.MethodGet, "/api/push", "")
		return strings.Count(string(body), `"id"`) == 1 && strings.Contains(string(body), `"sentAt"`)
	})
	said := ""
	for _, path := range []string{"/api/push", "/api/events?limit=1000", "/api/deliveries", "/api/triggers",
		"/settings/notifications", "/api/server"} {
		_, body := d.request(http.MethodGet, path, "")
		said += string(body)
	}
	said += d.said()
	for _, secret := range []string{"recognisable", device.P256dh(), device.Auth()} {
		if strings.Contains(said, secret) {
			t.Errorf("%q is said", secret)
		}
	}
}
