package service

import (
	"context"
	"fmt"
	"time"

	"github.com/dogwatch/dogwatch/core/notify/testrun"
	"github.com/dogwatch/dogwatch/core/serve/auth"
	"github.com/dogwatch/dogwatch/sdk/kind"
)

// TestResult is what a test run showed, a failed one too.
type TestResult struct {
	testrun.Result
	// Remedy is what to do about the error of a failed one; "" when nothing is known.
	Remedy string
	Took   time.Duration
}

// Test runs a test of a component, for real: a trigger sends a sample, a registry
// resolves an image (one of its own choice when image is ""), a watcher lists its
// containers. The end of ctx cancels it. The error is an ErrNotFound when there is
// no such component, a testrun.ErrHost when the actor may not have a registry
// contact the host of image, an *sdk.InvalidError that names image when it makes no
// sense, and else what did not work.
func (s *Service) Test(
	ctx context.Context, actor auth.Actor, k kind.Kind, typ, name, image string,
) (TestResult, error) {
	c, err := s.find(k, typ, name)
	if err == nil {
		err = allow(actor, auth.Write, "test components")
	}
	if err != nil {
		return TestResult{}, err
	}
	began := s.opt.Now()
	got, err := s.opt.TestRuns.Run(ctx, c, testrun.Request{Image: image, AnyHost: actor.Operator()})
	return TestResult{Result: s.testResult(got), Remedy: s.remedy(err), Took: s.opt.Now().Sub(began)}, s.safe(err)
}

// Preview returns the message that a test of a trigger would send, and sends
// nothing. The error is an ErrNotFound when there is no such trigger.
func (s *Service) Preview(ctx context.Context, typ, name string) (testrun.Result, error) {
	t, known := s.opt.Components.Trigger(typ + "." + name)
	if !known {
		return testrun.Result{}, fmt.Errorf("trigger %s.%s: %w", typ, name, ErrNotFound)
	}
	got, err := s.opt.TestRuns.Preview(ctx, t)
	return s.testResult(got), s.safe(err)
}

func (s *Service) testResult(r testrun.Result) testrun.Result {
	return testrun.Result{
		Title: s.opt.Redact(r.Title), Body: s.opt.Redact(r.Body), Response: s.opt.Redact(r.Response),
		Warnings: s.texts(r.Warnings),
	}
}
