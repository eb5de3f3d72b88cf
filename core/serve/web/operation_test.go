package web

import (
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/dogwatch/dogwatch/core/serve/service"
	"github.com/dogwatch/dogwatch/core/serve/web/page"
	"github.com/dogwatch/dogwatch/core/serve/web/webtest"
	"github.com/dogwatch/dogwatch/core/serve/words"
	"github.com/dogwatch/dogwatch/core/update/operation"
	"github.com/dogwatch/dogwatch/core/update/updater"
	"github.com/dogwatch/dogwatch/sdk/watcher"
)

// updateOf returns the update of a container in a state, a moment before noon.
func updateOf(name string, state operation.State, change ...func(*operation.Operation)) operation.Operation {
	op := operation.Operation{
		ID: "op1", Kind: operation.Update, Watcher: "local", Name: name, Actor: "ana", State: state,
		Queued: webtest.Noon.Add(-time.Minute),
		Image:  watcher.TargetImage{Reference: "docker.io/library/" + name + ":1.1.0", Digest: "sha256:new"},
		Plan: watcher.Plan{From: watcher.PlannedImage{Reference: name + ":1.0.0", ID: "sha256:old"}, Steps: []watcher.Step{
			{ID: "pull", Text: "pull " + name}, {ID: "stop", Text: "stop the old " + name},
			{ID: "start", Text: "start the new " + name},
		}},
	}
	if state != operation.Queued {
		op.Began = webtest.Noon.Add(-30 * time.Second)
	}
	if state.Ended() {
		op.Ended = webtest.Noon.Add(-10 * time.Second)
	}
	for _, f := range change {
		f(&op)
	}
	return op
}

// took adds a step that was begun; ended is whether it ended, and failure why it failed.
func took(id string, ended bool, failure string) func(*operation.Operation) {
	return func(op *operation.Operation) {
		s := operation.Step{
			StepRecord: watcher.StepRecord{
				Step: watcher.Step{ID: id, Text: "the step " + id}, Ended: ended, Error: failure,
			}, Began: webtest.Noon.Add(-20 * time.Second),
		}
		if ended {
			s.EndedAt = s.Began.Add(1500 * time.Millisecond)
		}
		op.Steps = append(op.Steps, s)
	}
}

func failing(text string) func(*operation.Operation) {
	return func(op *operation.Operation) { op.Error = text }
}

func outcome(o watcher.Outcome) func(*operation.Operation) {
	return func(op *operation.Operation) { op.Outcome = &o }
}

func asRollback(op *operation.Operation) { op.Kind = operation.Rollback }

// TestOperationPage shows an operation in each of its states.
func TestOperationPage(t *testing.T) {
	allowed := service.Permission{Allowed: true}
	for name, test := range map[string]struct {
		op             operation.Operation
		may            service.Permission
		want, unwanted []string
	}{
		"queued": {
			updateOf("web", operation.Queued), allowed,
			[]string{">Waiting<", "Waiting since", "by ana", "to come</span>", `action="/base/operations/op1/cancel"`,
				`http-equiv="refresh"`}, []string{"Roll back", "Plan it again"},
		},
		"running": {
			updateOf("web", operation.Running, took("pull", false, "")), allowed,
			[]string{
				">Updating<", `aria-current="step"`,
				`<progress value="52428800" max="104857600" aria-label="the step pull">`,
				"layer 3, 52.4 MB of 104.9 MB", "stop the old web", "Cancel",
				`<progress value="50" max="300" aria-label="Update of web">`, "Step 1 of 3: the step pull",
				`<time data-elapsed="30">30 s</time> so far</p>`,
				`<span class="tag">1.0.0</span>`, `<b class="tag">1.1.0</b>`,
				`<noscript><meta http-equiv="refresh" content="3"></noscript>`,
			},
			[]string{"Roll back</a>"},
		},
		"read only": {updateOf("web", operation.Running, took("pull", false, "")), service.Permission{},
			[]string{">Updating<"}, []string{"Cancel", "<form method=\"post\" action=\"/base/operations"}},
		"returning": {
			updateOf("web", operation.Running, took("start", true, "it ended with code 1"), took("back", false, "")), allowed,
			[]string{"it ended with code 1", "the step back"}, []string{"to come</span>"},
		},
		"succeeded": {
			updateOf("web", operation.Succeeded, took("pull", true, ""),
				outcome(watcher.Outcome{
					Downtime: 1200 * time.Millisecond, Kept: []string{"web-old"},
					Warnings: []watcher.Reason{{Code: "prune", Text: "an image stays"}},
				})), allowed,
			[]string{">Updated<", "web was updated to 1.1.0.", "after 20 s", "It was down for 1.2 s.", "Kept: web-old.",
				"an image stays", "1.5 s", `href="/base/containers/local/web/rollback">Roll back</a>`},
			[]string{"Cancel</button>", "Plan it again", "refresh", "to come</span>"},
		},
		"rolled back": {
			updateOf("web", operation.RolledBack, took("pull", true, ""), took("start", true, "it ended with code 1"),
				failing("the new web ended with code 1")), allowed,
			[]string{">Did not work<",
				"1.1.0 did not work, so the old container is back as it was. The reason: the new web ended with code 1.", `href="/base/containers/local/web/update">Plan it again</a>`,
				"What to do next:</strong> The container runs as before, so there is no hurry."},
			[]string{"Roll back</a>", "to come</span>", "so far"},
		},
		"evidence of what ran": {
			updateOf("web", operation.RolledBack, failing("it became unhealthy"),
				outcome(watcher.Outcome{Evidence: &watcher.Evidence{Container: "web", Status: "running, unhealthy"}})), allowed,
			[]string{"When it was removed: running, unhealthy.", "It wrote nothing"}, []string{"exit code"},
		},
		"evidence": {
			updateOf("web", operation.RolledBack, failing("it ended with code 3"),
				outcome(watcher.Outcome{Evidence: &watcher.Evidence{
					Container: "web", Status: "exited", ExitCode: 3, Error: "out of memory", Log: "line 1\ncannot bind",
					Health: []watcher.HealthResult{{ExitCode: 7, Output: "not today"}},
				}})), allowed,
			[]string{"When it was removed: exited, exit code 3.", "The engine says: out of memory",
				"exit code 7: <code>not today</code>", "<pre>line 1\ncannot bind</pre>"},
			[]string{"It wrote nothing"},
		},
		"interrupted": {
			updateOf("web", operation.RolledBack, failing("the update was interrupted"),
				outcome(watcher.Outcome{
					State: watcher.RolledBack, Reason: watcher.Reason{Code: watcher.ReasonInterrupted},
				})), allowed,
			[]string{">Interrupted<",
				"It did not come to its end, so the old container is back as it was. The reason: the update was interrupted.", ">Plan it again</a>"}, []string{"did not work"},
		},
		"failed": {updateOf("web", operation.Failed, failing("disk full")), allowed, []string{">Failed<", "disk full.",
			"Nothing was changed. Once the reason is gone, plan it again."}, []string{"Cancel</button>"}},
		"left as it is": {updateOf("web", operation.Failed, failing("the engine is away"), outcome(watcher.Outcome{})), allowed,
			[]string{"Dogwatch cannot tell whether the container is as it was: look at it on its host"}, nil},
		"stopped": {
			updateOf("web", operation.Cancelled, failing("it was cancelled by ana"),
				outcome(watcher.Outcome{
					State: watcher.RolledBack, Reason: watcher.Reason{Code: watcher.ReasonCancelled},
				}), func(op *operation.Operation) { op.Cancel = &operation.Cancel{By: "ana"} }), allowed,
			[]string{">Cancelled<", "It was cancelled, by ana. The old container runs again as it was."},
			[]string{"Did not work", "did not work", "is to stop before"},
		},
		"cancelled": {updateOf("web", operation.Cancelled, failing("it was cancelled by ana")), allowed,
			[]string{">Cancelled<", "Nothing was done to the container. The reason: it was cancelled by ana."},
			[]string{"Cancel</button>"}},
		"rollback": {updateOf("web", operation.Succeeded, asRollback), allowed,
			[]string{"Rollback of web", ">Rolled back<"}, []string{"Roll back</a>"}},
		"dry run": {updateOf("web", operation.Succeeded, func(op *operation.Operation) { op.Rules.DryRun = true }),
			allowed, []string{">Dry run<", "nothing else was done"}, []string{"Roll back</a>"}},
		"removed": {updateOf("gone", operation.Succeeded), allowed, []string{"Update of gone"},
			[]string{"Roll back</a>", "containers/local/gone"}},
	} {
		t.Run(name, func(t *testing.T) {
			u, _ := withStore(t, webtest.Container("web", webtest.Newer("1.1.0", "minor")))
			f := fakes(u).fakeOperations
			f.operations, f.permission, f.previous = []operation.Operation{test.op}, test.may, "web:1.0.0"
			f.stepProgress = watcher.StepProgress{Message: "layer 3", Current: 50 << 20, Total: 100 << 20}
			body := request(u, "GET", "/operations/OP1", nil).Body.String()
			webtest.Contains(t, body, test.want...)
			for _, bad := range test.unwanted {
				if strings.Contains(body, bad) {
					t.Errorf("%q is in\n%s", bad, body)
				}
			}
		})
	}
}

// TestOperationsPage lists what was done, filters it, and has pages.
func TestOperationsPage(t *testing.T) {
	u, _ := withStore(t)
	f := fakes(u).fakeOperations
	webtest.Contains(t, request(u, "GET", "/operations", nil).Body.String(), "Nothing has been updated or rolled back yet",
		`href="/base/operations" aria-current="page"`)
	for i := range page.Size + 5 {
		op := updateOf("web", operation.Succeeded)
		op.ID = fmt.Sprintf("op%03d", 999-i)
		f.operations = append(f.operations, op)
	}
	f.operations[0] = updateOf("db", operation.Running, took("pull", false, ""), func(op *operation.Operation) {
		op.ID, op.Actor, op.Trigger = "op999", "", "docker.local"
	})
	f.operations[1] = updateOf("cache", operation.RolledBack, failing("never healthy"), func(op *operation.Operation) {
		op.ID = "op998"
	})
	body := request(u, "GET", "/operations", nil).Body.String()
	webtest.Contains(t, body, "update, 1.0.0 → 1.1.0: the step pull", "docker.local", "never healthy",
		`href="/base/operations?before=op950"`, `id="operation-op999"`, `http-equiv="refresh"`)
	if n := strings.Count(body, `<tr id="operation-`); n != page.Size {
		t.Errorf("%d rows", n)
	}
	body = request(u, "GET", "/operations?before=op950", nil).Body.String()
	webtest.Contains(t, body, `id="operation-op949"`, `href="/base/operations">Newest`)
	if strings.Contains(body, "Older") {
		t.Error("the last page leads to another")
	}
	for query, want := range map[string]int{
		"state=open": 1, "state=rolled-back": 1, "state=failed": 0, "container=local/db": 1, "container=db": 1,
		"container=nas/db": 0, "state=" + "bogus": page.Size,
	} {
		body := request(u, "GET", "/operations?"+query, nil).Body.String()
		if n := strings.Count(body, `<tr id="operation-`); n != want {
			t.Errorf("%s shows %d, want %d", query, n, want)
		}
	}
	f.reading = fmt.Errorf("disk on fire")
	if w := request(u, "GET", "/operations", nil); w.Code != http.StatusInternalServerError ||
		strings.Contains(w.Body.String(), "on fire") {
		t.Errorf("a failing store: %d %s", w.Code, w.Body)
	}
}

func TestCancelOperation(t *testing.T) {
	u, _ := withStore(t, webtest.Container("web"))
	f := fakes(u).fakeOperations
	f.operations, f.permission = []operation.Operation{updateOf("web", operation.Running)}, service.Permission{
		Allowed: true,
	}
	for _, test := range []struct {
		err  error
		code int
		to   string
	}{
		{nil, http.StatusSeeOther, "/base/operations/op1"},
		{updater.ErrEnded, http.StatusSeeOther, "/base/operations/op1"},
		{service.ErrNotFound, http.StatusNotFound, ""},
		{service.ErrForbidden, http.StatusForbidden, ""},
		{updater.ErrStopping, http.StatusServiceUnavailable, ""},
	} {
		f.cancelling = test.err
		w := request(u, "POST", "/operations/op1/cancel", nil)
		if w.Code != test.code || w.Header().Get("Location") != test.to {
			t.Errorf("%v: %d to %q: %s", test.err, w.Code, w.Header().Get("Location"), w.Body)
		}
	}
	f.operations[0].Cancel = &operation.Cancel{By: "ana", At: webtest.Noon.Add(-time.Second)}
	body := request(u, "GET", "/operations/op1", nil).Body.String()
	webtest.Contains(t, body, ">Stopping<", "It stops before its next step, as ana asked, and the old container runs again.")
	if strings.Contains(body, "Cancel</button>") || strings.Contains(body, "to come</span>") {
		t.Errorf("what is stopping can be cancelled: %s", body)
	}
	f.operations[0].Cancel.At = webtest.Noon.Add(-time.Hour) // it cannot be recovered, and is given up
	webtest.Contains(t, request(u, "GET", "/operations/op1", nil).Body.String(), ">Stopping<", "Cancel</button>")
	if w := request(u, "GET", "/operations/op7", nil); w.Code != http.StatusNotFound {
		t.Errorf("one that there is not: %d", w.Code)
	}
}

// TestPagesShowOperationsUnderWay on the overview, the list and the page of the container.
func TestPagesShowOperationsUnderWay(t *testing.T) {
	u, _ := withStore(t, webtest.Container("web", webtest.Newer("1.1.0", "minor")),
		webtest.Container("db", webtest.Newer("1.1.0", "minor")), webtest.Container("cache"))
	f := fakes(u).fakeOperations
	f.permission = service.Permission{Allowed: true}
	f.operations = []operation.Operation{
		updateOf("web", operation.Running, took("stop", false, "")),
		updateOf("cache", operation.RolledBack, failing("never healthy"), outcome(watcher.Outcome{
			Evidence: &watcher.Evidence{Log: "starting\ncannot bind to port 80\n"},
		}), func(op *operation.Operation) { op.ID = "op0" }),
		updateOf("old", operation.Failed, func(op *operation.Operation) {
			op.ID, op.Ended = "op00", webtest.Noon.Add(-24*time.Hour-time.Minute)
		}),
	}
	body := request(u, "GET", "/", nil).Body.String()
	webtest.Contains(t, body, "<h2>In progress</h2>", `<strong>web</strong> <span>updating: the step stop</span>`, `<a href="/base/operations/op1">`,
		"cache: 1.1.0 did not work, so the old container is back as it was. The reason: never healthy. Its log ends with “cannot bind to port 80”.")
	if strings.Contains(body, "old:") {
		t.Error("what failed long ago is shown")
	}
	body = request(u, "GET", "/containers", nil).Body.String()
	webtest.Contains(t, body, `<a class="doing" href="/base/operations/op1" title="updating: the step stop">updating, step 1 of 3</a>`,
		`href="/base/containers/local/db/update" data-update aria-label="Update db"`, `name="do" value="update"`)
	if strings.Contains(body, "local/web/update") || strings.Contains(body, "local/cache/update") {
		t.Error("what is being updated, or has no update, has a button for that")
	}
	body = request(u, "GET", "/containers/local/web", nil).Body.String()
	webtest.Contains(t, body, `<a href="/base/operations/op1">updating: the step stop</a>`)
	if strings.Contains(body, "local/web/update") {
		t.Error("what is being updated has a button for that")
	}
}

func TestVersionsOfImages(t *testing.T) {
	for want, test := range map[string]struct{ from, to watcher.PlannedImage }{
		"1.0 → 1.1": {watcher.PlannedImage{Reference: "nginx:1.0"}, watcher.PlannedImage{
			Reference: "docker.io/library/nginx:1.1",
		}},
		"latest @aaaaaaaaaaaa → latest @bbbbbbbbbbbb": {watcher.PlannedImage{
			Reference: "nginx:latest", Digest: "sha256:aaaaaaaaaaaaaaaa",
		}, watcher.PlannedImage{Reference: "nginx:latest", Digest: "sha256:bbbbbbbbbbbbbbbb"}},
		"no tag → 2": {watcher.PlannedImage{Reference: "lan:5000/a", ID: "sha256:cccccccccccccccc"},
			watcher.PlannedImage{Reference: "lan:5000/a:2"}},
		"lan:5000/a:1 → ghcr.io/b:1": {watcher.PlannedImage{Reference: "lan:5000/a:1"}, watcher.PlannedImage{
			Reference: "ghcr.io/b:1",
		}},
		"1 → 2": {watcher.PlannedImage{Reference: "a:1@sha256:dddddddddddddddd"}, watcher.PlannedImage{
			Reference: "a:2@sha256:eeeeeeeeeeeeeeee",
		}},
		"@dddddddddddd → 2": {watcher.PlannedImage{Reference: "a@sha256:dddddddddddddddd"}, watcher.PlannedImage{
			Reference: "a:2",
		}},
	} {
		if from, to := words.Versions(test.from, test.to); from.String()+" → "+to.String() != want {
			t.Errorf("%s → %s, want %s", from, to, want)
		}
	}
}

// TestContainerPageWaitsForItsNewContainer: for some seconds after an update the watcher has not listed it yet.
func TestContainerPageWaitsForItsNewContainer(t *testing.T) {
	u, _ := withStore(t)
	f := fakes(u).fakeOperations
	f.operations = []operation.Operation{updateOf("web", operation.Succeeded)}
	w := request(u, "GET", "/containers/local/web", nil)
	if webtest.Contains(t, w.Body.String(), "web was just recreated", "data-reload", `href="/base/operations/op1"`,
		`http-equiv="refresh"`); w.Code != http.StatusOK {
		t.Errorf("status %d", w.Code)
	}
	if w := request(u, "GET", "/containers/local/web", nil, "HX-Request", "true"); w.Code != http.StatusNotFound {
		t.Errorf("a part of it: %d", w.Code)
	}
	f.operations[0].Ended = webtest.Noon.Add(-2 * time.Minute)
	if w := request(u, "GET", "/containers/local/web", nil); w.Code != http.StatusNotFound {
		t.Errorf("long after: %d", w.Code)
	}
}

// TestOperationPageSaysHowLongItTakes by what is known: earlier ones of the container, else others of its kind.
func TestOperationPageSaysHowLongItTakes(t *testing.T) {
	lasted := func(id, name string, seconds int, change ...func(*operation.Operation)) operation.Operation {
		return updateOf(name, operation.Succeeded, append(change, func(op *operation.Operation) {
			op.ID, op.Ended = id, op.Began.Add(time.Duration(seconds)*time.Second)
		})...)
	}
	dry := func(op *operation.Operation) { op.Rules.DryRun = true }
	for want, past := range map[string][]operation.Operation{
		"so far</p>": {lasted("op2", "web", 9, dry), lasted("op3", "web", 9, asRollback)},
		"so far; earlier ones of web took about 1 min 10 s</p>": {lasted("op2", "web", 70), lasted("op3", "web", 10),
			lasted("op4", "web", 300), lasted("op5", "db", 1)},
		"so far; other updates took about 12 s</p>": {lasted("op2", "db", 12)},
	} {
		u, _ := withStore(t, webtest.Container("web", webtest.Newer("1.1.0", "minor")))
		running := updateOf("web", operation.Running, took("pull", false, ""))
		fakes(u).fakeOperations.operations = append([]operation.Operation{running}, past...)
		webtest.Contains(t, request(u, "GET", "/operations/op1", nil).Body.String(), want)
	}
}
