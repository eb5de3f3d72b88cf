package install

import (
	"context"
	"errors"
	"sync"
	"time"

	"github.com/dogwatch/dogwatch/core/artifact"
	"github.com/dogwatch/dogwatch/sdk"
)

// looksAtOnce is how many registries are looked into concurrently.
const looksAtOnce = 4

// FindNewer completes Available of plugins, and CheckedAt of those for which it could. The error says for which it could not.
func FindNewer(ctx context.Context, logins artifact.Logins, now time.Time, all []Status) error {
	failed := make([]error, len(all))
	slots := make(chan struct{}, looksAtOnce)
	var wait sync.WaitGroup
	for i := range all {
		wait.Go(func() {
			slots <- struct{}{}
			defer func() { <-slots }()
			var newer artifact.Newer
			newer, failed[i] = newerThan(ctx, logins, all[i])
			if failed[i] == nil {
				all[i].Available, all[i].AvailableDigest, all[i].CheckedAt = newer.Ref, newer.Digest, sdk.TimeOf(now)
			}
		})
	}
	wait.Wait()
	return errors.Join(failed...)
}

func newerThan(ctx context.Context, logins artifact.Logins, st Status) (artifact.Newer, error) {
	source, err := artifact.ParseSource(st.Ref)
	if err != nil || source.Image == nil { // a file that is gone, or was put there by hand
		return artifact.Newer{}, nil
	}
	return artifact.LookForNewer(ctx, logins, source, st.Digest)
}

// RecordNewer remembers what FindNewer found of what is still installed.
func (f *Folder) RecordNewer(all []Status) error {
	for _, st := range all {
		e, known := f.all[st.Name]
		if !known || e.Ref != st.Ref || e.Digest != st.Digest || st.CheckedAt.IsZero() {
			continue
		}
		e.Newer, e.CheckedAt = nil, st.CheckedAt
		if st.Available != "" {
			e.Newer = &artifact.Newer{Ref: st.Available, Digest: st.AvailableDigest}
		}
	}
	return f.save()
}
