package components

import (
	"sync"
	"time"

	"github.com/dogwatch/dogwatch/core/model/phrase"
	"github.com/dogwatch/dogwatch/core/serve/service"
	"github.com/dogwatch/dogwatch/core/serve/words"
	"github.com/dogwatch/dogwatch/sdk/kind"
)

// testResultTime is for how long the page of a component shows the result of its last test.
const testResultTime = 10 * time.Minute

// testResults are the last test results of components, by their keys. The page
// that shows one is another than the one that ran the test, so that reloading it
// tests nothing. The zero testResults are ready; their methods may be called
// concurrently.
type testResults struct {
	mu   sync.Mutex
	last map[string]testResult
}

type testResult struct {
	ended time.Time
	image string
	view  *testView
}

func (t *testResults) keep(key string, last testResult) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.last == nil {
		t.last = map[string]testResult{}
	}
	t.last[key] = last
}

// latest returns the last test result of a component; the zero one when that is too long ago.
func (t *testResults) latest(key string, now time.Time) testResult {
	t.mu.Lock()
	defer t.mu.Unlock()
	last := t.last[key]
	if now.Sub(last.ended) > testResultTime {
		delete(t.last, key)
		return testResult{}
	}
	return last
}

// testView is a test run in words.
type testView struct {
	service.TestResult
	OK bool
	// Verdict is one sentence.
	Verdict phrase.Phrase
}

func newTestView(c service.Component, result service.TestResult, err error) *testView {
	v := &testView{TestResult: result, OK: err == nil}
	took := result.Took.Round(time.Millisecond).String()
	switch {
	case !v.OK:
		v.Verdict = phrase.New("It does not work: %s", words.Mistake(err.Error()))
	case c.Kind == kind.Trigger && result.Response == "":
		v.Verdict = phrase.New("The service took the message below (%s).", took)
	default:
		v.Verdict = phrase.New("It works: %s (%s).", phrase.Quote(result.Response), took)
	}
	return v
}
