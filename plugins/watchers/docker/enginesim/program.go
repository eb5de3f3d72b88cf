package enginesim

import (
	"cmp"
	"time"

	"github.com/docker/docker/api/types/container"
)

// Program is what the containers of an image do. The zero Program runs until it is stopped.
type Program struct {
	// Log are the lines that it writes when it is started.
	Log []string
	// Failure is what its health check writes as it fails; "" for one that succeeds.
	Failure string
	// StartTime and StopTime are how long it takes to start and to stop.
	StartTime, StopTime time.Duration
}

const (
	// checkInterval and checkRetries are those of a health check that does not say them.
	checkInterval = 30 * time.Second
	checkRetries  = 3
	// keptChecks is how many results of a health check are kept.
	keptChecks = 5
)

// health is what the health check of a container says at a time; nil without one.
func (c *Container) health(now time.Time) *container.Health {
	check := c.config.Healthcheck
	if check == nil || len(check.Test) == 0 || check.Test[0] == "NONE" || c.started.IsZero() {
		return nil
	}
	h := &container.Health{Status: container.Starting, Log: []*container.HealthcheckResult{}}
	running := c.runs()
	if !running {
		now = c.finished
	}
	interval := cmp.Or(check.Interval, checkInterval)
	runs := int(now.Sub(c.started) / interval)
	code := 0
	if c.program.Failure != "" {
		code, h.FailingStreak = 1, runs
	}
	for n := max(0, runs-keptChecks) + 1; n <= runs; n++ {
		probed := c.started.Add(time.Duration(n) * interval).UTC()
		result := container.HealthcheckResult{Start: probed, End: probed, ExitCode: code, Output: c.program.Failure}
		h.Log = append(h.Log, &result)
	}
	switch {
	case !running || h.FailingStreak >= cmp.Or(check.Retries, checkRetries):
		h.Status = container.Unhealthy
	case runs > 0 && code == 0:
		h.Status = container.Healthy
	}
	return h
}
