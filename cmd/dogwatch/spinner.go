package main

import (
	"fmt"
	"io"
	"os"
	"sync"
	"time"
)

// spinner shows on a terminal that something is going on, until stop is called;
// elsewhere it shows nothing. text returns what to show each time.
func spinner(w io.Writer, text func() string) (stop func()) {
	if _, ok := terminal(w); !ok || os.Getenv("TERM") == "dumb" {
		return func() {}
	}
	end := make(chan struct{})
	var wait sync.WaitGroup
	wait.Go(func() {
		tick := time.NewTicker(100 * time.Millisecond)
		defer tick.Stop()
		frames := []rune("⠋⠙⠹⠸⠼⠴⠦⠧⠇⠏")
		for i := 0; ; i++ {
			width, _ := terminal(w) // which may change
			fmt.Fprintf(w, "\r\x1b[K%c %s", frames[i%len(frames)], clip(text(), width-gap))
			select {
			case <-end:
				fmt.Fprint(w, "\r\x1b[K")
				return
			case <-tick.C:
			}
		}
	})
	return sync.OnceFunc(func() {
		close(end)
		wait.Wait()
	})
}
