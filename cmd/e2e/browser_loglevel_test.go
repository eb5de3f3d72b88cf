package e2e

import (
	"net/http"
	"strings"
	"testing"
)

// TestBrowserLogLevel changes the level of the log on the settings page of a
// phone, finds the change in the history, and sees the next one in the log as it happens.
func TestBrowserLogLevel(t *testing.T) {
	t.Parallel()
	requireBrowser(t)
	l := startLab(t, 1)
	b := openTab(t, l.url)
	b.size(390, 860)
	b.open("/settings")
	const chosen = "document.querySelector('#log select').value"
	before := js[string](b, chosen)
	to := "warn"
	if before == to {
		t.Fatalf("the lab starts with the level %s", before)
	}
	b.settle()
	js[bool](b, "document.querySelector('#log select').focus(), true")
	b.press("w") // a list goes to what begins so
	b.click("#log button")
	b.says("until the next restart, when it is " + before + " again")
	if now := js[string](b, chosen); now != to {
		t.Errorf("the page shows the level %s, want %s", now, to)
	}
	b.shot("loglevel")
	b.open("/history?topic=settings")
	b.says("changed from " + before + " to " + to)

	b.open("/log")
	b.says("the log level changes")
	b.settle()
	res, err := http.Post(l.url+"/api/log", "application/json", strings.NewReader(`{"level":"`+before+`"}`))
	if err != nil || res.Body.Close() != nil || res.StatusCode != http.StatusOK {
		t.Fatalf("change the level: %v, %v", res, err)
	}
	b.says("from=" + to + " to=" + before)
	b.shot("log")
}
