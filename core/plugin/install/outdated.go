package install

import (
	"context"
	"errors"
	"sync"
	"time"

	"github.com/dogwatch/dogwatch/core/plugin/artifact"
	"github.com/dogwatch/dogwatch/sdk"
)

// looksAtOnce is how many registries are looked into concurrently.
const looksAtOnce = 4

// MayHold says why a plugin may not hold types, such as "trigger.lamp"; nil when it may.
type MayHold func(name string, types []string) error

// FindNewer completes Available and Refused of plugins, and CheckedAt of those for which it
// could. Nothing is available that an update would refuse. The error says for which it could not.
func FindNewer(ctx context.Context, from artifact.Fetcher, now time.Time, all []Status, may MayHold) error {
	failed := make([]error, len(all))
	slots := make(chan struct{}, looksAtOnce)
	var wait sync.WaitGroup
	for i := range all {
		wait.Go(func() {
			slots <- struct{}{}
			defer func() { <-slots }()
			var newer artifact.Newer
			newer, failed[i] = newerThan(ctx, from, all[i], may)
			if failed[i] == nil {
				all[i].Available, all[i].AvailableDigest, all[i].Refused = newer.Ref, newer.Digest, newer.Refused
				all[i].CheckedAt = sdk.TimeOf(now)
			}
		})
	}
	wait.Wait()
	return errors.Join(failed...)
}

func newerThan(ctx context.Context, from artifact.Fetcher, st Status, may MayHold) (artifact.Newer, error) {
	source, err := artifact.ParseSource(st.Ref)
	if err != nil || source.Image == nil { // a file that is gone, or was put there by hand
		return artifact.Newer{}, nil
	}
	have := artifact.Have{Source: source, Digest: st.Digest, Accept: func(got artifact.Fetched) error {
		return errors.Join(mayFollow(&st.Pin, st.Name, got, Request{}), may(st.Name, got.Types))
	}}
	if st.Key != "" {
		if have.Key, err = artifact.ParseKey(st.Key); err != nil {
			return artifact.Newer{}, malformedKey(st.Name)
		}
	}
	return from.LookForNewer(ctx, have)
}

// RecordNewer remembers what FindNewer found of what is still installed.
func (f *Folder) RecordNewer(all []Status) error {
	for _, st := range all {
		e, known := f.all[st.Name]
		if !known || e.Ref != st.Ref || e.Digest != st.Digest || st.CheckedAt.IsZero() {
			continue
		}
		e.Newer, e.CheckedAt = nil, st.CheckedAt
		if st.Available != "" || st.Refused != "" {
			e.Newer = &artifact.Newer{Ref: st.Available, Digest: st.AvailableDigest, Refused: st.Refused}
		}
	}
	return f.save()
}
