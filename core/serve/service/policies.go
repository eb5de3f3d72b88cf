package service

import (
	"context"
	"time"

	"github.com/dogwatch/dogwatch/core/config"
	"github.com/dogwatch/dogwatch/core/decide/preview"
)

// Policies returns what the updates of containers are decided with; see package decision.
type Policies interface {
	Subjects(ctx context.Context) ([]preview.Subject, error)
	// Zone is that of windows that name none.
	Zone() *time.Location
	// Problems are those of the rules that are configured, at now.
	Problems(now time.Time) []config.Problem
}

// PolicyPreview is what rules make of updates.
type PolicyPreview struct {
	// Now is with the rules that are set.
	Now preview.Preview
	// Tried is with other rules; nil when none is tried.
	Tried *preview.Preview
}

// PreviewPolicies says what becomes of the updates of all containers, and what would with
// other rules, each written as "minage=7d". It changes nothing.
func (s *Service) PreviewPolicies(ctx context.Context, rules []string) (PolicyPreview, error) {
	if s.opt.Policies == nil {
		return PolicyPreview{}, nil
	}
	subjects, err := s.opt.Policies.Subjects(ctx)
	if err != nil {
		return PolicyPreview{}, err
	}
	now := s.opt.Now()
	p := PolicyPreview{Now: preview.Of(subjects, now)}
	if len(rules) == 0 {
		return p, nil
	}
	changed, err := preview.With(subjects, rules, s.opt.Policies.Zone(), now)
	if err != nil {
		return p, &RuleError{Err: err}
	}
	tried := preview.Of(changed, now)
	p.Tried = &tried
	return p, nil
}

// RuleError is of a rule that cannot be read.
type RuleError struct{ Err error }

func (e *RuleError) Error() string { return e.Err.Error() }

// Unwrap returns the cause.
func (e *RuleError) Unwrap() error { return e.Err }
