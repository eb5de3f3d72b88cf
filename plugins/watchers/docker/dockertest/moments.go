package dockertest

import (
	"os"
	"testing"
	"time"
)

// Moments returns whether a test interrupts what it tests at the moment of a number: at every one where
// DOGWATCH_TEST_KILLS is set, as for soak runs. All of them take longer than a run on every change may: else at one of
// each so many, other ones on each day and for each offset.
func Moments(t testing.TB, each, offset int) func(n int) bool {
	t.Helper()
	if os.Getenv("DOGWATCH_TEST_KILLS") != "" {
		return func(int) bool { return true }
	}
	today := time.Now().UTC().YearDay() + offset
	t.Logf("moments %d, %d, …; with DOGWATCH_TEST_KILLS=1 all", today%each, today%each+each)
	return func(n int) bool { return (n-today)%each == 0 }
}
