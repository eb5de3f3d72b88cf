package webhook

import (
	"net/netip"
	"testing"
	"time"
)

func TestRateLimitIsByNetwork(t *testing.T) {
	now := time.Date(2026, 11, 23, 12, 0, 0, 0, time.UTC)
	var l RateLimit
	client, neighbour := netip.MustParseAddr("2001:db8::1"), netip.MustParseAddr("2001:db8::ffff")
	for i := range maxWrong {
		if wait := l.Wait(client, now); wait != 0 {
			t.Fatalf("attempt %d has to wait %v", i, wait)
		}
		l.Wrong(client, now)
	}
	if wait := l.Wait(neighbour, now); wait != wrongWindow {
		t.Errorf("another address of the network waits %v", wait)
	}
	if wait := l.Wait(netip.MustParseAddr("192.0.2.1"), now); wait != 0 {
		t.Errorf("another network waits %v", wait)
	}
	for i := range 5 * maxNetworks { // which do not make it forget the one that tries most
		l.Wrong(netip.AddrFrom4([4]byte{10, byte(i >> 16), byte(i >> 8), byte(i)}), now)
	}
	if wait := l.Wait(client, now); len(l.networks) > maxNetworks || wait != wrongWindow {
		t.Errorf("%d networks are remembered, and the client waits %v", len(l.networks), wait)
	}
	if wait := l.Wait(client, now.Add(wrongWindow)); wait != 0 {
		t.Errorf("after the window it waits %v", wait)
	}
	for range 2 * maxWrong {
		l.Wrong(netip.Addr{}, now)
	}
	if l.Wait(netip.Addr{}, now) == 0 {
		t.Error("unknown addresses are not limited")
	}
}
