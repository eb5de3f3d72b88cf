package parts

import (
	"context"
	"errors"
	"slices"
	"sync"
	"testing"
)

func TestListClosesInTheOppositeOrder(t *testing.T) {
	var l List
	var closed []string
	for _, name := range []string{"lock", "store", "plugins"} {
		l.Add(Part{Name: name, Close: func() { closed = append(closed, name) }})
	}
	l.Add(Part{Name: "only runs", Run: func(context.Context) error { return nil }})
	for range 2 {
		if l.Close(); !slices.Equal(closed, []string{"plugins", "store", "lock"}) {
			t.Errorf("closed %v", closed)
		}
	}
}

// TestListRuns until one part fails, which is named, or the context ends; what waits for something does not run then.
func TestListRuns(t *testing.T) {
	broken := errors.New("broken")
	until := func(ctx context.Context) error { <-ctx.Done(); return nil }
	for _, test := range []struct {
		names []string
		ran   []string
		err   string
	}{
		{nil, []string{"ends", "fails", "goes on"}, "fails: broken"},
		{[]string{"goes on", "ends"}, []string{"ends", "goes on"}, ""},
	} {
		ctx, cancel := context.WithCancel(t.Context())
		var l List
		var ran []string
		var mu sync.Mutex
		all := make(chan struct{})
		add := func(p Part) {
			run := p.Run
			p.Run = func(ctx context.Context) error {
				mu.Lock()
				if ran = append(ran, p.Name); len(ran) == len(test.ran) {
					close(all)
				}
				mu.Unlock()
				return run(ctx)
			}
			l.Add(p)
		}
		add(Part{Name: "goes on", Run: until})
		add(Part{Name: "ends", Needs: func(context.Context) error { return nil },
			Run: func(context.Context) error { return nil }})
		add(Part{Name: "fails", Run: func(context.Context) error { <-all; return broken }})
		add(Part{Name: "waits", Needs: func(ctx context.Context) error { <-ctx.Done(); return ctx.Err() }, Run: until})
		l.Add(Part{Name: "is only closed", Close: func() {}})
		if test.err == "" {
			go func() { <-all; cancel() }()
		}
		err := l.Run(ctx, test.names...)
		cancel()
		if slices.Sort(ran); !slices.Equal(ran, test.ran) {
			t.Errorf("%v: ran %v", test.names, ran)
		}
		if (err == nil) != (test.err == "") || err != nil && (err.Error() != test.err || !errors.Is(err, broken)) {
			t.Errorf("%v: %v", test.names, err)
		}
	}
}
