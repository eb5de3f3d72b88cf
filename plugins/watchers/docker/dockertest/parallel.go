package dockertest

import (
	"flag"
	"runtime"
	"strconv"
)

// Parallel lets three tests for each processor run at a time, where -parallel does not say how many: tests
// wait for engines most of their time. It is for TestMain.
func Parallel() {
	flag.Parse()
	const name = "test.parallel"
	given := false
	flag.Visit(func(f *flag.Flag) { given = given || f.Name == name })
	if !given {
		_ = flag.Set(name, strconv.Itoa(3*runtime.GOMAXPROCS(0))) // the flag is there in each test binary
	}
}
