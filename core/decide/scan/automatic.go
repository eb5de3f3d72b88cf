package scan

import (
	"slices"
	"time"

	"github.com/dogwatch/dogwatch/core/decide/policy"
	"github.com/dogwatch/dogwatch/core/decide/vulnerability"
	"github.com/dogwatch/dogwatch/sdk"
)

// byRule is the actor of scans that no user asked for.
const byRule = "a rule"

// Verdict is whether an update that a rule wants carried out may begin.
type Verdict struct {
	Ready bool
	// Digest is that of the new image that was scanned; "" when none was.
	Digest string
	// Again is when to ask again if nothing happens until then; zero for when the scan ends.
	Again time.Time
}

// Verdict says whether the update of a container that a rule wants carried out may begin. If
// its images are not compared yet they will be: an event says when. Of images that cannot be
// scanned only those wait that might be held for what the new one adds.
func (s *Scans) Verdict(c *sdk.Container) Verdict {
	if !s.opt.Automatic {
		return Verdict{Ready: true}
	}
	known, now := s.knownOf(c), s.opt.Now()
	switch {
	case s.isFresh(known, now):
		holds := s.opt.Hold != vulnerability.Unknown && known.summary.Added.AtLeast(s.opt.Hold) > 0
		return Verdict{Ready: !holds, Digest: known.to}
	case now.Sub(known.failedAt) < retryPause:
		if s.opt.Hold == vulnerability.Unknown {
			return Verdict{Ready: true}
		}
		return Verdict{Again: known.failedAt.Add(retryPause)}
	}
	if err := s.Request(*c, byRule); err != nil {
		s.log.Warn("the images of an automatic update cannot be scanned", "container", c.Watcher+"/"+c.Name, "error", err)
		if s.opt.Hold == vulnerability.Unknown {
			return Verdict{Ready: true}
		}
		return Verdict{Again: now.Add(retryPause)}
	}
	return Verdict{}
}

// Early asks for scans of updates that are held for their age alone or among other reasons,
// where a rule wants security fixes at once.
func (s *Scans) Early(containers []*sdk.Container, rules func(sdk.Container) policy.Rules) {
	if !s.opt.Automatic {
		return
	}
	now := s.opt.Now()
	for _, c := range containers {
		isYoung := c.UpdateAvailable && c.Decision != nil && c.Decision.State == sdk.StateHeld &&
			slices.ContainsFunc(c.Decision.Reasons, func(r sdk.Reason) bool { return r.Code == policy.ReasonMinAge })
		if !isYoung || rules(*c).Security.Value == vulnerability.Unknown {
			continue
		}
		known := s.knownOf(c)
		if s.isFresh(known, now) || now.Sub(known.failedAt) < retryPause {
			continue
		}
		if err := s.Request(*c, byRule); err != nil {
			s.log.Debug("the images of an update cannot be scanned", "container", c.Watcher+"/"+c.Name, "error", err)
		}
	}
}

func (s *Scans) knownOf(c *sdk.Container) compared {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.known[currentKey(c)]
}

// isFresh reports whether images need not be scanned again. Those that were compared only
// just are not, however short that time is.
func (s *Scans) isFresh(known compared, now time.Time) bool {
	return !known.at.IsZero() && now.Sub(known.at) < max(s.opt.MaxAge, minFresh)
}

// minFresh is for how long a comparison counts at least before an automatic update, which
// would otherwise be scanned again and again.
const minFresh = 10 * time.Minute
