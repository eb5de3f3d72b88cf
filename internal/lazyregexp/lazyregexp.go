// Package lazyregexp compiles regular expressions when they are first used.
//
// Dogwatch runs as several processes of one program, and most of them never use
// most expressions. A counted repetition or a class of letters can take 100 KB each time.
package lazyregexp

import (
	"regexp"
	"sync"
)

// New returns a function that returns expr, compiled once; the function is safe
// for concurrent use and panics if expr cannot be compiled.
func New(expr string) func() *regexp.Regexp {
	return sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(expr) })
}
