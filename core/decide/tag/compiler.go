package tag

import "sync"

const (
	maxCompiled = 1024   // rules that a Compiler remembers
	maxSizes    = 50_000 // instructions of all their patterns: about five megabytes
)

// Compiler is Compile with a memory: every check reads the labels of every container again,
// and most of them say the same. The zero Compiler is ready to use, by many goroutines at once.
type Compiler struct {
	mu       sync.Mutex
	compiled map[Rules]outcome
	size     int
}

// outcome is what Compile returned.
type outcome struct {
	selector *Selector
	err      error
}

// Compile returns what the function Compile returns for the same rules. It forgets
// everything when it would remember too much.
func (c *Compiler) Compile(r Rules) (*Selector, error) {
	c.mu.Lock()
	known, ok := c.compiled[r]
	c.mu.Unlock()
	if ok {
		return known.selector, known.err
	}
	var fresh outcome
	fresh.selector, fresh.err = Compile(r)
	c.remember(r, fresh)
	return fresh.selector, fresh.err
}

func (c *Compiler) remember(r Rules, o outcome) {
	size := 1 + (len(r.Include)+len(r.Exclude)+len(r.Transform))/8
	if o.selector != nil {
		size += o.selector.size()
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.compiled == nil || len(c.compiled) >= maxCompiled || c.size+size > maxSizes {
		c.compiled, c.size = map[Rules]outcome{}, 0
	}
	if _, known := c.compiled[r]; !known {
		c.compiled[r] = o
		c.size += size
	}
}

// size returns about how many instructions the patterns have.
func (s *Selector) size() int {
	size := 0
	for _, f := range []*filter{s.include, s.exclude} {
		if f != nil {
			size += f.size
		}
	}
	if s.transform != nil {
		size += s.transform.match.size
	}
	return size
}
