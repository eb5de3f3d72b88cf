package api

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/hashicorp/go-hclog"

	"github.com/dogwatch/dogwatch/core/config"
	"github.com/dogwatch/dogwatch/core/config/logging"
	"github.com/dogwatch/dogwatch/core/notify/webpush"
	"github.com/dogwatch/dogwatch/core/plugin/component"
	"github.com/dogwatch/dogwatch/core/serve/auth"
	"github.com/dogwatch/dogwatch/core/serve/service"
	"github.com/dogwatch/dogwatch/core/store"
	"github.com/dogwatch/dogwatch/internal/webpushtest"
	"github.com/dogwatch/dogwatch/sdk/trigger"
)

// notifying are the components of a configuration with a trigger of type webpush.
var notifying = sync.OnceValues(func() (*component.Manager, error) {
	f, err := shown()
	if err != nil {
		return nil, err
	}
	conf, err := config.Load(config.Input{
		Environ:      []string{"DOGWATCH_TRIGGER_WEBPUSH_DEVICES=true", "HOME=/nonexistent"},
		WatcherTypes: []string{"docker"},
	})
	if err != nil {
		return nil, err
	}
	m := component.New(component.Options{
		Plugins: f.host, Log: hclog.NewNullLogger(), Secrets: func(...string) {},
	})
	m.Load(conf.Components)
	m.Finish()
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	return m, m.Await(ctx)
})

// refusing are devices whose push service does not answer.
type refusing struct{ service.Devices }

func (refusing) Test(context.Context, string, trigger.Trigger) error {
	return errors.New("push.example.org answered 503")
}

// withDevices lets devices be subscribed; wrap changes what they do.
func withDevices(t *testing.T, wrap func(service.Devices) service.Devices) func(*testOptions) {
	return func(o *testOptions) {
		components, err := notifying()
		if err != nil {
			t.Fatal(err)
		}
		redactor := &logging.Redactor{}
		devices, err := webpush.New(t.Context(), webpush.Options{
			Store: o.app.Store.(*store.Store), Secrets: redactor.Add, Log: hclog.NewNullLogger(), Now: time.Now,
		})
		if err != nil {
			t.Fatal(err)
		}
		o.app.Components, o.app.Devices = components, wrap(devices)
	}
}

// unchangedDevices is a wrap that changes nothing.
func unchangedDevices(d service.Devices) service.Devices { return d }

func subscriptionBody(t *testing.T, path string) string {
	t.Helper()
	d, err := webpushtest.NewDevice()
	if err != nil {
		t.Fatal(err)
	}
	return fmt.Sprintf(`{"endpoint":"https://push.example.org/%s","expirationTime":null,"keys":{"p256dh":%q,"auth":%q}}`,
		path, d.P256dh(), d.Auth())
}

func TestPushDevices(t *testing.T) {
	w := startWithLogin(t, nil, withDevices(t, unchangedDevices))
	ana := []string{"Cookie", w.session(), "User-Agent", "Mozilla/5.0 (Android 14; Mobile) Firefox/132.0"}
	w.do("POST", "/api/push/devices", subscriptionBody(t, "recognisable"),
		append(ana, "Sec-Fetch-Site", "cross-site")...).fails(403, "cross-site")
	w.do("POST", "/api/push/devices", subscriptionBody(t, "recognisable"),
		"Authorization", "Bearer "+w.token(auth.Read, time.Time{})).fails(403, "may only read")
	w.do("POST", "/api/push/devices", `{"endpoint":"http://localhost/recognisable","keys":{}}`, ana...).fails(400, "https://")
	inside := strings.Replace(subscriptionBody(t, "recognisable"), "push.example.org", "192.168.1.2", 1)
	w.do("POST", "/api/push/devices", inside, ana...).fails(400, "privatetarget: true")
	made := w.do("POST", "/api/push/devices", subscriptionBody(t, "recognisable"), ana...).want(201)
	got := w.get("/api/push", ana...).want(200)
	all := got.object()
	devices := all["devices"].([]any)
	if len(devices) != 1 || all["publicKey"] == "" || fmt.Sprint(all["triggers"]) != "[webpush.devices]" {
		t.Fatalf("%s", got.body)
	}
	d := devices[0].(map[string]any)
	if d["name"] != "Firefox on Android" || d["username"] != "ana" {
		t.Errorf("%v", d)
	}
	id := d["id"].(string)
	w.do("POST", "/api/push/devices/"+id+"/test", "", ana...).want(204)
	w.do("POST", "/api/push/devices/nosuchdevice/test", "", ana...).fails(404)
	w.do("DELETE", "/api/push/devices/"+id, "",
		"Authorization", "Bearer "+w.token(auth.Read, time.Time{})).fails(403, "may only read")
	w.do("DELETE", "/api/push/devices/"+id, "", ana...).want(204)
	w.do("DELETE", "/api/push/devices/"+id, "", ana...).fails(404, "Device not found")

	audit := w.get("/api/events", ana...).want(200)
	if !strings.Contains(string(audit.body), "notifications on Firefox on Android") {
		t.Errorf("no audit: %s", audit.body)
	}
	for _, r := range []response{made, got, audit} {
		if strings.Contains(string(r.body), "recognisable") {
			t.Errorf("an endpoint is shown: %s", r.body)
		}
	}
}

func TestPushDevicesAreLimited(t *testing.T) {
	w := start(t, nil, withDevices(t, unchangedDevices))
	for i := range webpush.MaxDevices {
		w.do("POST", "/api/push/devices", subscriptionBody(t, fmt.Sprint("endpoint-", i))).want(201)
	}
	w.do("POST", "/api/push/devices", subscriptionBody(t, "one-more")).fails(409, "remove one")
}

func TestPushServiceThatFails(t *testing.T) {
	w := start(t, nil, withDevices(t, func(d service.Devices) service.Devices { return refusing{d} }))
	w.do("POST", "/api/push/devices", subscriptionBody(t, "a")).want(201)
	all := w.get("/api/push").want(200).object()
	id := all["devices"].([]any)[0].(map[string]any)["id"].(string)
	w.do("POST", "/api/push/devices/"+id+"/test", "").fails(502, "answered 503")
}
