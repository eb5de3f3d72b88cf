// Package budget counts requests to hosts against what they are allowed in a period of
// time. It knows nothing of HTTP: who makes a request takes it from the Book first.
package budget

import (
	"fmt"
	"strconv"
	"strings"
	"time"
)

const (
	// slices of a period are counted together, so that memory does not grow with requests.
	parts = 60
	// unlimitedPer is the period over which the requests to hosts without an allowance are counted.
	unlimitedPer = time.Hour
	// maxHosts bounds the hosts without an allowance that are counted.
	maxHosts = 256
	// The bounds of an allowance.
	maxRequests = 1_000_000
	minPer      = time.Minute
	maxPer      = 31 * 24 * time.Hour
)

// Allowance is how many requests a host gets in any period of a length.
type Allowance struct {
	Requests int
	Per      time.Duration
}

// String returns "100 requests in 6 h", without a period when that is not known.
func (a Allowance) String() string {
	if a.Per == 0 {
		return requests(a.Requests)
	}
	return requests(a.Requests) + " in " + Length(a.Per)
}

// Length returns a length of time without the minutes and seconds that are 0: "6 h", "1 h 30 min".
func Length(d time.Duration) string {
	text := d.String()
	if cut, noSeconds := strings.CutSuffix(text, "m0s"); noSeconds {
		text = cut + "m"
	}
	if cut, noMinutes := strings.CutSuffix(text, "h0m"); noMinutes {
		text = cut + "h"
	}
	return strings.TrimSpace(strings.NewReplacer("h", " h ", "m", " min ", "s", " s ").Replace(text))
}

// Parse reads "docker.io=100/6h": a host as it stands in names of images, and its allowance. The
// period may be a unit alone: "100/h". The error says what is wrong with which part.
func Parse(text string) (host string, a Allowance, err error) {
	host, allowed, found := strings.Cut(text, "=")
	number, per, divided := strings.Cut(allowed, "/")
	host, per = strings.ToLower(strings.TrimSpace(host)), strings.TrimSpace(per)
	if !found || !divided || host == "" {
		return "", a, fmt.Errorf("%q: want a host, a number of requests and a period: docker.io=100/6h", text)
	}
	if strings.ContainsAny(host, "/ ") {
		return "", a,
			fmt.Errorf("%q: the host %q is none: want it as in names of images, such as ghcr.io or registry.example.org:5000", text, host)
	}
	if host == "registry-1.docker.io" || host == "index.docker.io" || host == "hub.docker.com" {
		return "", a, fmt.Errorf("%q: want the host of Docker Hub as docker.io", text)
	}
	if a.Requests, err = strconv.Atoi(strings.TrimSpace(number)); err != nil || a.Requests < 1 ||
		a.Requests > maxRequests {
		return "", a, fmt.Errorf("%q: %q is no number of requests: want 1 to %d", text, number, maxRequests)
	}
	if a.Per, err = period(per); err != nil || a.Per < minPer || a.Per > maxPer {
		return "", a, fmt.Errorf("%q: %q is no period: want 1m to %dh, such as h, 6h or 24h", text, per, int(maxPer.Hours()))
	}
	return host, a, nil
}

func period(text string) (time.Duration, error) {
	if text == "d" || text == "day" {
		return 24 * time.Hour, nil
	}
	if strings.Trim(text, "hm") == "" {
		text = "1" + text
	}
	return time.ParseDuration(text)
}
