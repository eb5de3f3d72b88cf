package shoutrrr

import (
	"fmt"
	"slices"
	"strings"
	"sync"

	"github.com/dogwatch/dogwatch/sdk"
)

// maxUnfinished is how many partial deliveries are kept in memory. The retry of
// one that is not, as after a restart, sends duplicates.
const maxUnfinished = 64

// progress records which services a partial delivery has reached, by its
// idempotency key, so that a retry sends no duplicates. The zero value is ready;
// it is safe for concurrent use.
type progress struct {
	mu         sync.Mutex
	unfinished []unfinished // the oldest first
}

type unfinished struct {
	delivery string
	reached  []int
}

// has reports whether a delivery has reached a service.
func (p *progress) has(delivery string, service int) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	i := p.find(delivery)
	return i >= 0 && slices.Contains(p.unfinished[i].reached, service)
}

// add records that a delivery has reached a service; one without a key is never retried.
func (p *progress) add(delivery string, service int) {
	if delivery == "" {
		return
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	if i := p.find(delivery); i >= 0 {
		p.unfinished[i].reached = append(p.unfinished[i].reached, service)
		return
	}
	if len(p.unfinished) == maxUnfinished {
		p.unfinished = slices.Delete(p.unfinished, 0, 1)
	}
	p.unfinished = append(p.unfinished, unfinished{delivery, []int{service}})
}

// forget drops a delivery that is complete.
func (p *progress) forget(delivery string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if i := p.find(delivery); i >= 0 {
		p.unfinished = slices.Delete(p.unfinished, i, i+1)
	}
}

func (p *progress) find(delivery string) int {
	return slices.IndexFunc(p.unfinished, func(u unfinished) bool { return u.delivery == delivery })
}

// failures are the errors of the services that a delivery did not reach.
type failures []error

func (f *failures) add(err error) { *f = append(*f, err) }

// err is nil without failures, else an error that names all and has the
// kind of the first that can be retried, if there is one.
func (f failures) err() error {
	if len(f) == 0 {
		return nil
	}
	first := max(0, slices.IndexFunc(f, sdk.Retryable))
	var others []string
	for i, err := range f {
		if i != first {
			others = append(others, err.Error())
		}
	}
	if len(others) == 0 {
		return f[first]
	}
	return fmt.Errorf("%w; %s", f[first], strings.Join(others, "; "))
}
