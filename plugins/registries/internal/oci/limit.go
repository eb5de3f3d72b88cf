package oci

import (
	"net/http"
	"strings"
	"time"
)

const (
	// maxInFlight is how many requests one host gets at once, from all instances together.
	maxInFlight = 8
	// patience is how long a call waits for a host that asks for a pause. A
	// longer one is for the caller to plan around.
	patience = 2 * time.Second
)

// retryAfterIn finds the time to wait in a message such as GitHub's
// "retry-after: 1.16ms, allowed: 44000/minute"; 0 when there is none.
func retryAfterIn(message string) time.Duration {
	_, rest, found := strings.Cut(strings.ToLower(message), "retry-after:")
	if !found {
		return 0
	}
	word, _, _ := strings.Cut(strings.TrimSpace(rest), ",")
	word, _, _ = strings.Cut(word, " ")
	d, err := time.ParseDuration(word)
	if err != nil || d < 0 {
		return 0
	}
	return min(d, 24*time.Hour)
}

// limitReason tells the two limits of Docker Hub apart: pulls, which come back
// after hours, and requests in a short time
// (https://docs.docker.com/docker-hub/usage/pulls/). Other registries are quoted.
func limitReason(said string, h http.Header) string {
	lower := strings.ToLower(said)
	left, _, _ := strings.Cut(h.Get("RateLimit-Remaining"), ";")
	switch {
	case strings.Contains(lower, "pull rate limit") || strings.TrimSpace(left) == "0":
		text := "the pull limit of the account or address is used up"
		if limit := h.Get("RateLimit-Limit"); limit != "" {
			text += " (" + limit + ")"
		}
		return text + "; logging in raises it"
	case lower == "" || lower == "too many requests":
		return "too many requests in a short time"
	}
	return said
}
