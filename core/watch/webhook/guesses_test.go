package webhook

import (
	"net/netip"
	"testing"
	"time"
)

func TestGuessesAreLimitedByNetwork(t *testing.T) {
	now := time.Date(2026, 11, 23, 12, 0, 0, 0, time.UTC)
	var g Guesses
	guesser, neighbour := netip.MustParseAddr("2001:db8::1"), netip.MustParseAddr("2001:db8::ffff")
	for i := range maxGuesses {
		if wait := g.Wait(guesser, now); wait != 0 {
			t.Fatalf("guess %d has to wait %v", i, wait)
		}
		g.Wrong(guesser, now)
	}
	if wait := g.Wait(neighbour, now); wait != guessWindow {
		t.Errorf("another address of the network waits %v", wait)
	}
	if wait := g.Wait(netip.MustParseAddr("192.0.2.1"), now); wait != 0 {
		t.Errorf("another network waits %v", wait)
	}
	for i := range 5 * maxGuessers { // which do not make it forget the one that guesses most
		g.Wrong(netip.AddrFrom4([4]byte{10, byte(i >> 16), byte(i >> 8), byte(i)}), now)
	}
	if wait := g.Wait(guesser, now); len(g.of) > maxGuessers || wait != guessWindow {
		t.Errorf("%d networks are remembered, and the guesser waits %v", len(g.of), wait)
	}
	if wait := g.Wait(guesser, now.Add(guessWindow)); wait != 0 {
		t.Errorf("after the window it waits %v", wait)
	}
	for range 2 * maxGuesses {
		g.Wrong(netip.Addr{}, now)
	}
	if g.Wait(netip.Addr{}, now) == 0 {
		t.Error("unknown addresses are not limited")
	}
}
