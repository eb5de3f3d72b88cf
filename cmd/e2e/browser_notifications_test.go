package e2e

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"os/exec"
	"slices"
	"strings"
	"testing"

	cdpbrowser "github.com/chromedp/cdproto/browser"
	"github.com/chromedp/cdproto/cdp"
	"github.com/chromedp/cdproto/page"
	"github.com/chromedp/cdproto/serviceworker"
	"github.com/chromedp/cdproto/target"
	"github.com/chromedp/chromedp"

	"github.com/dogwatch/dogwatch/internal/webpushtest"
	"github.com/dogwatch/dogwatch/plugins/registries/registrysim"
)

// fakePush is in the place of the push service of a browser, which is on the internet: a subscription with the
// endpoint and the keys of a device of the test. A subscription of another installation is there already.
const fakePush = `(() => {
	const subscription = options => ({
		endpoint: '%[1]s', options, toJSON: () => ({endpoint: '%[1]s', expirationTime: null, keys: %[2]s}),
		unsubscribe: async () => localStorage.removeItem('subscribed'),
	});
	const of = key => key && subscription({userVisibleOnly: true, applicationServerKey: key});
	if (!localStorage.began) localStorage.subscribed = 'another';
	localStorage.began = 'yes';
	PushManager.prototype.getSubscription = async () => of(localStorage.subscribed);
	PushManager.prototype.subscribe = async ({userVisibleOnly, applicationServerKey}) => {
		const key = String(applicationServerKey);
		if (!userVisibleOnly) throw new DOMException('not visible', 'NotAllowedError');
		if (localStorage.subscribed && localStorage.subscribed !== key) throw new DOMException('another key', 'InvalidStateError');
		localStorage.subscribed = key;
		return of(key);
	};
	Notification.requestPermission = async () => 'granted';
	if (%[3]t) Object.defineProperty(Notification, 'permission', {get: () => 'granted'});
})()`

// fakeNotifications are in the place of those of a browser that shows none: a newer one replaces that with its tag.
const fakeNotifications = `(() => {
	let shown = [];
	registration.showNotification = async (title, options) => {
		shown = shown.filter(n => n.tag !== options.tag);
		shown.unshift({title, ...options, close() { shown = shown.filter(n => n !== this) }});
	};
	registration.getNotifications = async () => shown;
})()`

// clickNotification clicks the newest notification, or one of its buttons, and returns what the worker opens. Windows
// are opened for nobody else than a user.
const clickNotification = `(async () => {
	const did = [];
	clients.openWindow = async url => did.push('open ' + url);
	WindowClient.prototype.focus = async function() { did.push('focus ' + this.url) };
	const [notification] = await registration.getNotifications();
	let done;
	dispatchEvent(Object.assign(new Event('notificationclick'), {
		notification, action: '%s', waitUntil: promise => { done = promise },
	}));
	await done;
	return did.join();
})()`

// replaceSubscription is what a browser does that does not say which subscription it has replaced. It returns the key
// of the new one.
const replaceSubscription = `(async () => {
	let key, done;
	PushManager.prototype.subscribe = async ({userVisibleOnly, applicationServerKey}) => {
		key = userVisibleOnly && applicationServerKey;
		return {endpoint: '%s', keys: %s};
	};
	dispatchEvent(Object.assign(new Event('pushsubscriptionchange'), {waitUntil: promise => { done = promise }}));
	await done;
	return key;
})()`

// notification is one that the browser shows.
type notification struct {
	Title, Body, Tag, Icon string
	Actions                []struct{ Action, Title string }
	Data                   struct {
		Path string
		URLs map[string]string `json:"urls"`
	}
}

// shownNotifications are those that the browser shows, the newest first.
const shownNotifications = `registration.getNotifications().then(all => all.map(
	({title, body, tag, icon, actions, data}) => ({title, body, tag, icon, actions: [...actions], data})))`

// showingBrowser starts a browser that shows notifications, where there is one: chromium-headless-shell denies them,
// whatever is granted.
func showingBrowser(t *testing.T) (ctx context.Context, shows bool) {
	t.Helper()
	program, err := exec.LookPath("chromium")
	if err != nil {
		ctx, err := browser()
		must(t, err)
		return ctx, false
	}
	ctx, stopped := chromedp.NewExecAllocator(context.Background(), chromedp.Flag("headless", "new"), chromedp.NoSandbox,
		chromedp.DisableGPU, chromedp.NoFirstRun, chromedp.ExecPath(program), chromedp.WSURLReadTimeout(maxWait))
	t.Cleanup(stopped)
	ctx, stop := chromedp.NewContext(ctx)
	t.Cleanup(stop)
	must(t, chromedp.Do(ctx))
	return ctx, true
}

// worker attaches to the service worker of an address.
func (b *tab) worker(url string) *tab {
	b.t.Helper()
	var id target.ID
	eventually(b.t, "the service worker runs", func() bool {
		all, err := chromedp.Targets(b.ctx)
		must(b.t, err)
		for _, one := range all {
			if one.Type == "service_worker" && strings.HasPrefix(one.URL, url) {
				id = one.TargetID
			}
		}
		return id != ""
	})
	ctx, stop := chromedp.NewContext(b.ctx, chromedp.WithTargetID(id))
	b.t.Cleanup(stop)
	return &tab{t: b.t, ctx: ctx}
}

// registration returns the ID of the registration of the service worker.
func (b *tab) registration() serviceworker.RegistrationID {
	b.t.Helper()
	event, err := chromedp.Run(b.ctx, chromedp.WaitEvent(serviceworker.WorkerRegistrationUpdated,
		func(e serviceworker.EventWorkerRegistrationUpdated) bool { return len(e.Registrations) > 0 },
		chromedp.Func(func(ctx context.Context, target *chromedp.Target) error {
			_, err := cdp.Call(ctx, target, serviceworker.Enable, cdp.Empty{})
			return err
		})))
	must(b.t, err)
	return event.Registrations[0].RegistrationID
}

// shownBy returns what the browser of a service worker shows, the newest first.
func shownBy(w *tab) []notification {
	w.t.Helper()
	return js[[]notification](w, shownNotifications, chromedp.EvalAwaitPromise)
}

func pushKeys(d webpushtest.Device) string {
	return fmt.Sprintf(`{"p256dh":%q,"auth":%q}`, d.P256dh(), d.Auth())
}

// TestBrowserNotifications turns notifications on as a user does, and hands to the service worker what Dogwatch sends.
// Where only chromium-headless-shell is installed, which denies notifications, fakes are in their place.
func TestBrowserNotifications(t *testing.T) {
	t.Parallel()
	requireBrowser(t)
	s := newPushService(t)
	f := newFleet(t, 1, registrysim.Options{})
	d := install(t, append(f.env(), "DOGWATCH_TRIGGER_WEBPUSH_DEVICES_SUBJECT=mailto:ana@example.org",
		"DOGWATCH_TRIGGER_WEBPUSH_DEVICES_PRIVATETARGET=true", "DOGWATCH_TRIGGER_WEBPUSH_DEVICES_BACKLOG=each",
		"DOGWATCH_WATCHER_LOCAL_UPDATE=true", "DOGWATCH_POLICY_UPDATE=approve",
		"DOGWATCH_PUBLIC_URL=https://dog.example.org",
		"DOGWATCH_TRIGGER_WEBPUSH_DEVICES_TLS_CAFILE="+s.certificate)...).start()
	device, err := webpushtest.NewDevice()
	must(t, err)
	var push struct {
		PublicKey string
		Triggers  []string
		Devices   []struct{ ID string }
	}
	look := func() {
		_, body := d.request(http.MethodGet, "/api/push", "")
		must(t, json.Unmarshal(body, &push))
	}
	eventually(t, "the trigger can be used", func() bool {
		look()
		return len(push.Triggers) == 1
	})

	ctx, shows := showingBrowser(t)
	b := openTabOf(ctx, t, d.url)
	ctx, stop := chromedp.NewContext(b.ctx) // before there is a service worker
	t.Cleanup(stop)
	early := &tab{t: t, ctx: ctx, url: d.url}
	eventually(t, "a container is known", func() bool { return len(d.containers()) > 0 })
	about := "/containers/local/" + d.containers()[0].Name
	early.open(about)
	if shows {
		_, err = chromedp.CallBrowser(b.ctx, cdpbrowser.SetPermission, cdpbrowser.SetPermissionParams{
			Permission: &cdpbrowser.PermissionDescriptor{Name: "notifications"}, Origin: d.url,
			Setting:          cdpbrowser.PermissionSettingGranted,
			BrowserContextID: chromedp.FromContext(b.ctx).BrowserContextID,
		})
		must(t, err)
	}
	_, err = chromedp.Call(b.ctx, page.AddScriptToEvaluateOnNewDocument, page.AddScriptToEvaluateOnNewDocumentParams{
		Source: fmt.Sprintf(fakePush, s.URL+"/browser", pushKeys(device), !shows),
	})
	must(t, err)
	b.open("/settings/notifications")
	b.click("[data-press=on]")
	b.says("This device receives notifications.")
	b.says("this device")
	if look(); len(push.Devices) != 1 {
		t.Fatalf("%+v", push)
	}

	w := b.worker(d.url + "/sw.js")
	if !shows {
		js[any](w, fakeNotifications)
	}
	id := b.registration()
	// deliver has the worker show a message; again, since a busy Chromium loses some of what its DevTools deliver.
	deliver := func(message, what string, is func(all []notification) bool) {
		t.Helper()
		tries := 0
		eventually(t, what, func() bool {
			if tries++; tries%100 != 1 {
				return is(shownBy(w))
			}
			_, err := chromedp.Call(b.ctx, serviceworker.DeliverPushMessage, serviceworker.DeliverPushMessageParams{
				Origin: d.url, RegistrationID: id, Data: message,
			})
			must(t, err)
			return is(shownBy(w))
		})
	}
	var last map[string]any
	for _, tag := range []string{"1.1.0", "1.2.0"} {
		f.registry(0).Push(f.repo(0), tag)
		if status, body := d.request(http.MethodPost, "/api/containers/watch", ""); status != http.StatusOK {
			t.Fatalf("%d %s", status, body)
		}
		text, err := device.Decrypt(<-s.bodies)
		must(t, err)
		must(t, json.Unmarshal(text, &last))
		deliver(string(text), "the notification is shown", func(all []notification) bool {
			return len(all) == 1 && strings.Contains(all[0].Title+all[0].Body, tag)
		})
	}
	n := shownBy(w)[0]
	if n.Title != last["title"] || n.Body != last["body"] || n.Tag != "container"+strings.TrimPrefix(about, "/containers") ||
		!strings.HasPrefix(n.Icon, d.url+"/static/icon-192.") && shows || n.Data.Path != about[1:] ||
		fmt.Sprint(n.Actions) != "[{approve Update} {snooze Not now}]" {
		t.Errorf("shown: %+v, sent: %v", n, last)
	}
	b.open("/settings/notifications")
	closed := func() {
		t.Helper()
		eventually(t, "all are closed", func() bool {
			js[any](w, "registration.getNotifications().then(all => all.forEach(n => n.close()))", chromedp.EvalAwaitPromise)
			return len(shownBy(w)) == 0
		})
	}
	closed()
	one := func(all []notification) bool { return len(all) == 1 }
	for action, want := range map[string]string{
		"approve": "open https://dog.example.org/decide/", "snooze": "open https://dog.example.org/decide/",
		"": "focus " + d.url + about,
	} {
		last["tag"] = "clicked/" + action // what closes late must not close the next one with its tag
		text, err := json.Marshal(last)
		must(t, err)
		deliver(string(text), "it is shown again", one)
		did := js[string](w, fmt.Sprintf(clickNotification, action), chromedp.EvalAwaitPromise)
		if !strings.HasPrefix(did, want) || action != "" && did != "open "+n.Data.URLs[action] {
			t.Errorf("%q does: %s", action, did)
		}
		eventually(t, "what is clicked is closed", func() bool { return len(shownBy(w)) == 0 })
	}
	early.open("/history")
	deliver(`{"title":"T","tag":"t","path":"containers?state=updates"}`, "it is shown", one)
	if did := js[string](w, fmt.Sprintf(clickNotification, ""), chromedp.EvalAwaitPromise); did !=
		"open "+d.url+"/containers?state=updates" {
		t.Errorf("the body does: %s", did)
	}
	closed()
	for _, odd := range []string{"", "no JSON", "null", "{}"} {
		deliver(odd, fmt.Sprintf("something is shown for %q", odd), func(all []notification) bool {
			return slices.ContainsFunc(all, func(n notification) bool { return n.Title == "Dogwatch" })
		})
		closed()
	}

	renewed, err := webpushtest.NewDevice()
	must(t, err)
	key := js[string](w, fmt.Sprintf(replaceSubscription, s.URL+"/renewed", pushKeys(renewed)), chromedp.EvalAwaitPromise)
	if look(); key != push.PublicKey || len(push.Devices) != 2 {
		t.Errorf("subscribed with %s; %+v", key, push)
	}
	b.click("[data-press=off]")
	eventually(t, "the device is removed", func() bool {
		look()
		return len(push.Devices) == 1
	})
}
