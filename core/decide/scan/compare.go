package scan

import (
	"context"
	"encoding/json"
	"fmt"
	"time"

	"github.com/dogwatch/dogwatch/core/decide/vulnerability"
	"github.com/dogwatch/dogwatch/sdk"
)

// compare scans the images of a job as far as that is not known, and compares them.
func (s *Scans) compare(ctx context.Context, j *job) (Comparison, error) {
	s.progress(j, "looking the images up")
	running, offered, err := s.opt.Images(ctx, j.container)
	if err != nil {
		return Comparison{}, err
	}
	before, since, err := s.report(ctx, j, running, "scanning the image that runs")
	if err != nil {
		return Comparison{}, fmt.Errorf("the image that runs: %w", err)
	}
	after, scanned, err := s.report(ctx, j, offered, "scanning the new image")
	if err != nil {
		return Comparison{}, fmt.Errorf("the new image: %w", err)
	}
	if scanned.Before(since) {
		since = scanned
	}
	d := vulnerability.Compare(before, after)
	return Comparison{
		At: sdk.TimeOf(since), Scanner: after.Scanner, From: running.Digest, To: offered.Digest, Summary: d.Summary(),
		FixedFindings: worst(d.Fixed), AddedFindings: worst(d.Added), RemainingFindings: worst(d.Remaining),
	}, nil
}

// worst returns the most severe findings, never nil.
func worst(all []vulnerability.Finding) []vulnerability.Finding {
	return append([]vulnerability.Finding{}, all[:min(len(all), listed)]...)
}

// report returns what is in an image: what is stored, if that is not too old.
func (s *Scans) report(
	ctx context.Context, j *job, image Image, step string,
) (report vulnerability.Report, at time.Time, err error) {
	body, at, found, err := s.opt.Store.Scan(ctx, image.id())
	if err != nil {
		return report, at, err
	}
	if found && s.opt.Now().Sub(at) < s.opt.MaxAge && json.Unmarshal(body, &report) == nil {
		s.count(&s.counts.Reused)
		return report, at, nil
	}
	s.progress(j, step)
	at = s.opt.Now()
	if report, err = s.opt.Scanner.Scan(ctx, image); err == nil && !report.Is(image.Digest) {
		err = fmt.Errorf("the scanner reports on %s, and not on %s: have it scan ${image} as it is", report.Images[0],
			image.Reference)
	}
	if err != nil {
		s.count(&s.counts.Failed)
		return vulnerability.Report{}, at, err
	}
	s.count(&s.counts.Done)
	report.Images = nil // which are those of the image
	if body, err = json.Marshal(report); err == nil {
		err = s.opt.Store.PutScan(ctx, image.id(), at, body)
	}
	return report, at, err
}

func (s *Scans) count(which *int) {
	s.mu.Lock()
	*which++
	s.mu.Unlock()
}

func (s *Scans) progress(j *job, step string) {
	s.mu.Lock()
	j.step = step
	s.mu.Unlock()
	s.opt.Progressed()
}
