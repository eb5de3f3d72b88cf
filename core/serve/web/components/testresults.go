package components

import (
	"sync"
	"time"
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
	at    time.Time
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

// of returns the last test result of a component; the zero one when that is too long ago.
func (t *testResults) of(key string, now time.Time) testResult {
	t.mu.Lock()
	defer t.mu.Unlock()
	last := t.last[key]
	if now.Sub(last.at) > testResultTime {
		delete(t.last, key)
		return testResult{}
	}
	return last
}
