package protocol

import (
	"context"
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"

	"google.golang.org/grpc/metadata"

	"github.com/dogwatch/dogwatch/sdk"
)

const (
	// RequestsKey names the trailing metadata with the requests of a call.
	RequestsKey = "dogwatch-requests"
	// LoadKey names the trailing metadata with the sdk.Load of a call: its latency in microseconds, and "throttled".
	LoadKey   = "dogwatch-load"
	throttled = "throttled"
	// RegistryService begins the full name of every method of registries, whose requests are counted.
	RegistryService = MethodPrefix + "Registry/"

	// The bounds of what is accepted of a plugin: a call makes few requests to few hosts.
	maxRequestHosts = 16
	maxRequests     = 100_000
	maxHostLength   = 255
	// maxLatency is a day, in microseconds.
	maxLatency = 24 * 60 * 60 * 1_000_000
)

// EncodeRequests makes the metadata of how many requests a call made, by host, and of how they were answered. What is
// no host is left out: with a wrong character in it, the call itself would fail.
func EncodeRequests(hosts map[string]int, l sdk.Load) metadata.MD {
	var values []string
	for _, host := range slices.Sorted(maps.Keys(hosts)) {
		if isHost(host) {
			values = append(values, host+" "+strconv.Itoa(hosts[host]))
		}
	}
	if len(values) == 0 {
		values = []string{""}
	}
	md := metadata.MD{RequestsKey: values}
	if l != (sdk.Load{}) {
		load := strconv.FormatInt(l.Latency.Microseconds(), 10)
		if l.Throttled {
			load += " " + throttled
		}
		md.Set(LoadKey, load)
	}
	return md
}

// CountRequests counts what the metadata of a call says in the context of its caller, see
// sdk.CountRequests. Values that cannot be right are left out.
func CountRequests(ctx context.Context, trailer metadata.MD) {
	for _, value := range trailer.Get(LoadKey) {
		number, refused, _ := strings.Cut(value, " ")
		if n, err := strconv.ParseInt(number, 10, 64); err == nil && n >= 0 && n <= maxLatency {
			sdk.Answered(ctx, sdk.Load{
				Latency: time.Duration(n) * time.Microsecond, Throttled: refused == throttled,
			})
		}
	}
	values := trailer.Get(RequestsKey)
	for _, value := range values[:min(len(values), maxRequestHosts)] {
		host, number, _ := strings.Cut(value, " ")
		n, err := strconv.Atoi(number)
		switch {
		case value == "":
			sdk.Requested(ctx, "", 0)
		case err == nil && n > 0 && n <= maxRequests && len(host) <= maxHostLength && isHost(host):
			sdk.Requested(ctx, host, n)
		}
	}
}

// isHost reports whether a text has only what hosts and ports consist of.
func isHost(text string) bool {
	return text != "" && !strings.ContainsFunc(text, func(r rune) bool {
		return !('a' <= r && r <= 'z' || 'A' <= r && r <= 'Z' || '0' <= r && r <= '9' || strings.ContainsRune(".-_:[]", r))
	})
}
