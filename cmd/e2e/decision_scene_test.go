package e2e

import (
	"fmt"
	"net/http"
	"net/url"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/dogwatch/dogwatch/core/update/operation"
	"github.com/dogwatch/dogwatch/plugins/watchers/docker/dockertest"
	"github.com/dogwatch/dogwatch/sdk"
)

// approveLink is the target of the button in an e-mail.
var approveLink = regexp.MustCompile(`href="https://dog\.example\.org(/decide/[^"]+)"[^>]*>Approve`)

// mailed returns the path of the button Approve in the e-mail about a container.
func mailed(box *inbox, name string) string {
	for _, mail := range box.all() {
		text := strings.NewReplacer("=\r\n", "", "=3D", "=").Replace(mail)
		if found := approveLink.FindStringSubmatch(text); found != nil && strings.Contains(text, "container "+name) {
			return found[1]
		}
	}
	return ""
}

// about returns the messages about a container.
func about(all []published, name string) (found []published) {
	for _, m := range all {
		if strings.HasSuffix(m.Title, " "+name) {
			found = append(found, m)
		}
	}
	return found
}

// TestDecisionsOnARealEngine decides about updates as users do, from their messages on a
// phone: one is held until it is old enough, two are approved by a link, one is skipped
// until the next version, and one is carried out by rule in its window.
func TestDecisionsOnARealEngine(t *testing.T) {
	t.Parallel()
	requireBrowser(t)
	engine, registry := dockertest.Start(t), startRegistry(t)
	ntfy, messages := ntfyServer(t)
	mail, mailPort := startMail(t)
	p := newProduct(t, engine, registry+"/decided/app")
	d := install(t, "DOGWATCH_WATCHER_DOCKER_LOCAL_SOCKET="+strings.TrimPrefix(engine.Host, "unix://"),
		"DOGWATCH_WATCHER_DOCKER_LOCAL_CRON=0 0 1 1 *",
		"DOGWATCH_WATCHER_DOCKER_LOCAL_UPDATE=true", "DOGWATCH_WATCHER_DOCKER_LOCAL_WATCHBYDEFAULT=false",
		"DOGWATCH_REGISTRY_CUSTOM_LAN_URL=http://"+registry,
		"DOGWATCH_PUBLIC_URL=https://dog.example.org", "DOGWATCH_TRIGGER_NTFY_PHONE_URL="+ntfy,
		"DOGWATCH_TRIGGER_NTFY_PHONE_TOPIC=updates", "DOGWATCH_TRIGGER_NTFY_PHONE_BACKLOG=each",
		"DOGWATCH_TRIGGER_SMTP_MAIN_HOST=127.0.0.1", "DOGWATCH_TRIGGER_SMTP_MAIN_PORT="+mailPort,
		"DOGWATCH_TRIGGER_SMTP_MAIN_FROM=dog@example.org", "DOGWATCH_TRIGGER_SMTP_MAIN_TO=ana@example.org",
		"DOGWATCH_TRIGGER_SMTP_MAIN_BACKLOG=each").start()
	opens := time.Now().UTC().Add(75 * time.Second).Truncate(time.Minute)
	for name, labels := range map[string]map[string]string{
		"young":   {"dogwatch.update.minage": "1m"},
		"phone":   {"dogwatch.update": "approve"},
		"letter":  {"dogwatch.update": "approve"},
		"skipped": {},
		"nightly": {
			"dogwatch.update": "auto",
			"dogwatch.update.window": fmt.Sprintf("daily %s-%s UTC", opens.Format("15:04"),
				opens.Add(time.Hour).Format("15:04")),
		},
	} {
		labels["dogwatch.watch"] = "true"
		engine.Run(t, name, p.repo+":1.0.0", labels)
	}
	d.watch()
	for name, code := range map[string]string{"young": "age.min", "nightly": "window.closed"} {
		if c := known(d, name); c.Decision == nil || c.Decision.State != sdk.StateHeld || c.Decision.Reasons[0].Code != code {
			t.Errorf("%s: %s", name, show(c.Decision))
		}
	}
	eventually(t, "messages about what is offered", func() bool {
		return len(about(messages(), "phone")) == 1 && len(about(messages(), "skipped")) == 1 && mailed(mail, "letter") != ""
	})

	// On the phone, from both messages.
	b := openTab(t, d.url)
	b.size(390, 844)
	for name, path := range map[string]string{
		"phone":  strings.TrimPrefix(linkOf(t, about(messages(), "phone")[0], "Approve"), "https://dog.example.org"),
		"letter": mailed(mail, "letter"),
	} {
		for range 5 { // scanners of mail servers and previews of chats
			if status, _ := d.request(http.MethodGet, path, ""); status != http.StatusOK {
				t.Fatalf("%s: %d", name, status)
			}
		}
		if all := d.operations(name); len(all) > 0 {
			t.Fatalf("looking at the link of %s began %s", name, show(all))
		}
		b.open(path)
		b.says("Approve")
		b.says(name)
		b.shot("asks-" + name)
		b.click("button[value=approve]")
		b.says("Approved")
		b.shot("approved-" + name)
		var id string
		eventually(t, "an operation of "+name, func() bool {
			for _, op := range d.operations(name) {
				id = op.ID
			}
			return id != ""
		})
		if op := d.ended(id); op.State != operation.Succeeded || !strings.Contains(op.Actor, "link of trigger ") {
			t.Errorf("the operation of %s is %s, by %q", name, says(op), op.Actor)
		}
		only(t, engine, name, p.new)
		b.mayFail() // its status is 410
		b.open(path)
		b.says("You already used this link")
	}

	// Skipped with the link, and the next version comes.
	skip := strings.TrimPrefix(linkOf(t, about(messages(), "skipped")[0], "Skip"), "https://dog.example.org")
	if status, body := d.submit(skip, url.Values{"action": {"skip"}}); status != http.StatusOK {
		t.Fatalf("skip: %d %s", status, body)
	}
	d.watch()
	if c := known(d, "skipped"); c.Decision.State != sdk.StateHeld || c.Decision.Reasons[0].Code != "choice.skip" {
		t.Errorf("skipped: %s", show(c.Decision))
	}

	// By themselves, with nothing but time.
	eventually(t, "the young one is offered", func() bool { return known(d, "young").Decision.State == sdk.StateOffered })
	eventually(t, "one message about it", func() bool { return len(about(messages(), "young")) > 0 })
	eventually(t, "the nightly one is updated in its window", func() bool {
		all := d.operations("nightly")
		return len(all) == 1 && all[0].State == operation.Succeeded
	})
	if began := time.Now(); began.Before(opens) {
		t.Errorf("it was updated %v before its window", opens.Sub(began))
	}
	only(t, engine, "nightly", p.new)

	p.push(t, "1.2.0")
	d.watch()
	eventually(t, "a message about the version after the skipped one", func() bool {
		return len(about(messages(), "skipped")) == 2
	})
	d.settled()
	if n := len(about(messages(), "young")); n != 1 { // of 1.1.0: the next one is too young
		t.Errorf("%d messages about the young one", n)
	}
	if c := known(d, "skipped"); c.Result.Tag != "1.2.0" || c.Decision.State != sdk.StateOffered {
		t.Errorf("skipped: %s", show(c))
	}
	d.stop()
}

// linkOf returns the link of a button of a message.
func linkOf(t *testing.T, m published, label string) string {
	t.Helper()
	for _, a := range m.Actions {
		if a.Label == label {
			return a.URL
		}
	}
	t.Fatalf("no button %q: %+v", label, m)
	return ""
}
