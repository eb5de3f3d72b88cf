package e2e

import (
	"context"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"

	"github.com/dogwatch/dogwatch/sdk/plugintest"
)

// shots is the folder for screenshots of the tests, for a reader to look at.
const shots = "DOGWATCH_TEST_SHOTS"

// tab is a page in a browser.
type tab struct {
	t   testing.TB
	ctx context.Context
	url string
	// scriptless is true when the browser runs no script, so that pages are ready without.
	scriptless bool

	mu       sync.Mutex
	problems []string
	// interrupted is true when the browser gave up requests because the machine's networks
	// changed, as they do when engines of other tests make some.
	interrupted bool
	// loadsMayFail is whether resources may fail to load; see mayFail.
	loadsMayFail bool
}

// networkChanged is what the browser calls such an end of a request.
const networkChanged = "net::ERR_NETWORK_CHANGED"

// pageLeft is what the browser says of an expression whose page was left before it had a value.
const pageLeft = "Inspected target navigated or closed"

// browserProgram returns Chromium's program, or nothing. The one without windows takes a quarter of
// the processor's time to start, and renders the same.
func browserProgram() string {
	for _, name := range []string{"chromium-headless-shell", "chromium"} {
		if path, err := exec.LookPath(name); err == nil {
			return path
		}
	}
	return ""
}

// requireBrowser skips the test where there is no Chromium.
func requireBrowser(t testing.TB) {
	t.Helper()
	if browserProgram() == "" {
		plugintest.Skip(t, "chrome", "there is neither chromium-headless-shell nor chromium")
	}
}

// browser starts the one Chromium whose tabs all tests open. It ends with the test binary.
var browser = sync.OnceValues(func() (context.Context, error) {
	// Without its sandbox it also runs where the user is root, as in containers.
	ctx, stopped := chromedp.NewExecAllocator(context.Background(), chromedp.Headless, chromedp.NoSandbox,
		chromedp.DisableGPU, chromedp.NoFirstRun, chromedp.ExecPath(browserProgram()), chromedp.WSURLReadTimeout(maxWait))
	ctx, stop := chromedp.NewContext(ctx)
	cleanup.add(func() {
		stop()
		stopped()
	})
	return ctx, chromedp.Do(ctx)
})

// openTab opens a tab for pages below url, with cookies, storage and a cache of its own. What the browser
// complains about, as of a violated content security policy, fails the test.
func openTab(t testing.TB, url string) *tab {
	t.Helper()
	requireBrowser(t)
	ctx, err := browser()
	must(t, err)
	return openTabOf(ctx, t, url)
}

// openTabOf opens a tab of a browser.
func openTabOf(ctx context.Context, t testing.TB, url string) *tab {
	t.Helper()
	ctx, stop := context.WithTimeout(ctx, 10*maxWait)
	t.Cleanup(stop)
	ctx, stop = chromedp.NewContext(ctx, chromedp.WithNewBrowserContext())
	t.Cleanup(stop)
	b := &tab{t: t, ctx: ctx, url: url}
	messages := chromedp.Console(ctx)
	listening := make(chan struct{})
	go func() {
		defer close(listening)
		for m, err := range messages {
			if err != nil {
				return
			}
			if m.Source == "network" &&
				(strings.Contains(m.URL, "/api/events") || strings.Contains(m.Text, "ERR_CONNECTION_REFUSED")) {
				continue // the server ends, and the stream with it; the page sees to both
			}
			if b.isExpected(m.Text) {
				continue
			}
			if strings.Contains(m.Text, networkChanged) {
				b.mu.Lock()
				b.interrupted = true
				b.mu.Unlock()
				continue
			}
			if m.IsException() || m.Type == "error" || m.Source == "security" {
				b.mu.Lock()
				b.problems = append(b.problems, m.String())
				b.mu.Unlock()
			}
		}
	}()
	t.Cleanup(func() {
		b.mu.Lock()
		defer b.mu.Unlock()
		for _, p := range b.problems {
			t.Errorf("the browser complains: %s", p)
		}
	})
	// As if it were the only tab, it has the focus, whatever others do.
	_, err := chromedp.Call(ctx, emulation.SetFocusEmulationEnabled,
		emulation.SetFocusEmulationEnabledParams{Enabled: true})
	must(t, err)
	b.size(1440, 900)
	return b
}

// mayFail says before a request that it has to fail: that the browser could not load something, as of a status that is
// part of a test, is no problem from then on. What it complains about may arrive long after.
func (b *tab) mayFail() {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.loadsMayFail = true
}

// isExpected reports whether a complaint is about what mayFail has announced.
func (b *tab) isExpected(text string) bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.loadsMayFail && strings.Contains(text, "Failed to load resource")
}

func (b *tab) do(steps ...chromedp.Action[chromedp.Void]) {
	b.t.Helper()
	must(b.t, chromedp.Do(b.ctx, steps...))
}

// size makes the page so large: 390 pixels is a phone, 1440 a desk.
func (b *tab) size(width, height int64) {
	b.t.Helper()
	b.do(chromedp.EmulateViewport(width, height))
}

// prefers sets what the system prefers: "prefers-color-scheme", "dark".
func (b *tab) prefers(name, value string) {
	b.t.Helper()
	_, err := chromedp.Call(b.ctx, emulation.SetEmulatedMedia, emulation.SetEmulatedMediaParams{
		Features: []*emulation.MediaFeature{{Name: name, Value: value}},
	})
	must(b.t, err)
}

// open leads to a page, again when requests were given up because networks changed.
func (b *tab) open(path string) {
	b.t.Helper()
	for try := 1; ; try++ {
		b.mu.Lock()
		b.interrupted = false
		b.mu.Unlock()
		err := chromedp.Do(b.ctx, chromedp.Navigate(b.url+path))
		b.mu.Lock()
		again := b.interrupted || err != nil && strings.Contains(err.Error(), networkChanged)
		b.mu.Unlock()
		if !again || try == 5 {
			must(b.t, err)
			return
		}
	}
}

// js returns the value of an expression in the page. A page that is left meanwhile, as a list
// without rows reloads itself when a container changes, is evaluated again when it is back.
func js[T any](b *tab, expression string, options ...chromedp.EvaluateOption) T {
	b.t.Helper()
	for try := 1; ; try++ {
		v, err := chromedp.Run(b.ctx, chromedp.Evaluate[T](expression, options...))
		if err == nil {
			return v
		}
		if try == 5 || !strings.Contains(err.Error(), pageLeft) {
			b.t.Fatalf("%s: %v", expression, err)
		}
		b.settle()
	}
}

// until waits until an expression is true.
func (b *tab) until(expression string) {
	b.t.Helper()
	for range polls(maxWait) {
		// An error is a page that is being left.
		if is, err := chromedp.Run(b.ctx, chromedp.Evaluate[bool]("!!("+expression+")")); err == nil && is {
			return
		}
	}
	b.shot("never")
	b.t.Fatalf("never: %s; the page says:\n%s", expression, js[string](b, "document.body.innerText"))
}

// settle waits until the page listens: a person is slower than its script. Before it
// has painted for the first time, a browser drops the keys that are pressed.
func (b *tab) settle() {
	b.t.Helper()
	if b.scriptless {
		b.until("document.readyState === 'complete'")
		return
	}
	b.until("document.readyState === 'complete' && (!document.querySelector('script[src*=\"/app.\"]') || 'ready' in document.documentElement.dataset && performance.getEntriesByType('paint').length)")
}

// press types keys as a person does.
func (b *tab) press(keys string) {
	b.t.Helper()
	b.settle()
	b.do(chromedp.KeyEvent(keys))
}

func (b *tab) escape() { b.press(kb.Escape) }

// click clicks an element as a person does: again if the click went elsewhere, as a
// live update may move or replace the element between being found and being clicked.
func (b *tab) click(selector string) {
	b.t.Helper()
	b.settle()
	for tries := 1; ; tries++ {
		if !b.scriptless {
			// The bar at the bottom of small pages may cover what is in view.
			js[any](b, "document.querySelector("+quoted(selector)+
				")?.scrollIntoView({block: 'center', behavior: 'instant'})")
			js[any](b,
				"window.clicked = false; addEventListener('click', e => { window.clicked = !!e.target.closest("+
					quoted(selector+", label")+") }, {capture: true, once: true})")
		}
		err := chromedp.Do(b.ctx, chromedp.Click(chromedp.CSS(selector)))
		if err == nil && b.scriptless || err == nil && !b.missed() {
			return
		}
		if err != nil && (tries == 5 || !strings.Contains(err.Error(), noNode)) {
			b.t.Fatalf("click on %s: %v", selector, err)
		}
		if tries == 5 {
			b.t.Fatalf("%d clicks on %s went elsewhere", tries, selector)
		}
	}
}

// missed reports whether the last click went elsewhere. A page that is being left was hit.
func (b *tab) missed() bool {
	missed, err := chromedp.Run(b.ctx, chromedp.Evaluate[bool]("window.clicked === false"))
	return err == nil && missed
}

// noNode is what Chromium responds when an element has gone.
const noNode = "Could not find node"

// says reports whether the page has a text, as users see it.
func (b *tab) says(text string) {
	b.t.Helper()
	b.until("document.body.innerText.includes(" + quoted(text) + ")")
}

func quoted(text string) string {
	return "'" + strings.NewReplacer(`\`, `\\`, "'", `\'`, "\n", `\n`).Replace(text) + "'"
}

// shot keeps what the page looks like now.
func (b *tab) shot(name string) {
	b.shotAs(strings.ReplaceAll(b.t.Name(), "/", "-") + "-" + name)
}

// shotAs keeps what the page looks like now in a file of that name.
func (b *tab) shotAs(name string) {
	dir := os.Getenv(shots)
	if dir == "" {
		return
	}
	image, err := chromedp.Run(b.ctx, chromedp.CaptureScreenshot())
	must(b.t, err)
	must(b.t, os.MkdirAll(dir, 0o700))
	must(b.t, os.WriteFile(filepath.Join(dir, name+".png"), image, 0o600))
}

// TestExpressionIsEvaluatedAgain of a page that reloads itself meanwhile.
func TestExpressionIsEvaluatedAgain(t *testing.T) {
	t.Parallel()
	requireBrowser(t)
	b := openTab(t, "")
	page := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "text/html")
		fmt.Fprint(w, "<!doctype html><title>x</title><p>there")
	}))
	defer page.Close()
	b.open(page.URL)
	got := js[string](b, `new Promise(done => {
		if (sessionStorage.reloaded) done(document.querySelector('p').textContent);
		sessionStorage.reloaded = true;
		location.reload();
	})`, chromedp.EvalAwaitPromise)
	if got != "there" {
		t.Errorf("the page says %q", got)
	}
}
