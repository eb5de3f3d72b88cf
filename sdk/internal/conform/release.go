package conform

import (
	"errors"
	"regexp"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/dogwatch/dogwatch/internal/protocol"
	"github.com/dogwatch/dogwatch/sdk/internal/inprocess"
)

// rounds is how often an instance comes and goes before goroutines are counted:
// what is left behind each time cannot be mistaken for something that ends a little later.
const rounds = 8

// release: an instance that was released is unknown, and none of its goroutines is left.
func release(t *testing.T, s Subject) {
	in := s.Working(t)
	p := Start(t, s, in)
	p.MustWork()
	before := goroutines()
	for range rounds {
		if _, err := inprocess.Configure(t.Context(), p.Client, s.Type, "main", in.Options); err != nil {
			t.Fatalf("configure: %v", err)
		}
		p.MustWork()
		if err := p.Client.Release(t.Context(), p.ID); err != nil {
			t.Fatalf("release: %v", err)
		}
	}
	for _, c := range p.calls {
		if err := p.Call(t.Context(), c); !errors.Is(err, protocol.ErrUnknownInstance) {
			t.Errorf("%s of a released instance: got %v, want that it is not configured", c.Name, err)
		}
	}
	var left map[string]int
	for end := time.Now().Add(s.MaxWait()); time.Now().Before(end); time.Sleep(s.MaxWait() / 1000) {
		if left = grown(before, goroutines()); len(left) == 0 {
			return
		}
	}
	for where, n := range left {
		t.Errorf("%d goroutines are left after %d instances were released (give the type a Close method that ends them): %s", n, rounds, where)
	}
}

// grown returns the places where every round left a goroutine behind.
func grown(before, after map[string]int) map[string]int {
	more := map[string]int{}
	for where, n := range after {
		if n-before[where] >= rounds {
			more[where] = n - before[where]
		}
	}
	return more
}

// elsewhere starts goroutines that are not the type's own: idle connections end by
// themselves, and the rest belongs to the test.
var elsewhere = regexp.MustCompile(`^(net/http|google\.golang\.org/grpc|testing|golang\.org/x/net/http2)[./]`)

// goroutines counts the running goroutines by the place that started them.
func goroutines() map[string]int {
	stacks := make([]byte, 1<<20)
	for {
		n := runtime.Stack(stacks, true)
		if n < len(stacks) {
			stacks = stacks[:n]
			break
		}
		stacks = make([]byte, 2*len(stacks))
	}
	count := map[string]int{}
	for _, stack := range strings.Split(string(stacks), "\n\n") {
		_, origin, started := strings.Cut(stack, "\ncreated by ")
		if !started || elsewhere.MatchString(origin) {
			continue
		}
		where, _, _ := strings.Cut(origin, " in goroutine ")
		count[where]++
	}
	return count
}
