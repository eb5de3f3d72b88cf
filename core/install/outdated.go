package install

import (
	"context"
	"errors"
	"sync"

	"github.com/dogwatch/dogwatch/core/artifact"
)

// looksAtOnce is how many registries are looked into concurrently.
const looksAtOnce = 4

// FindNewer completes Available of plugins. The error says for which it could not.
func FindNewer(ctx context.Context, logins artifact.Logins, all []Status) error {
	failed := make([]error, len(all))
	slots := make(chan struct{}, looksAtOnce)
	var wait sync.WaitGroup
	for i := range all {
		wait.Go(func() {
			slots <- struct{}{}
			defer func() { <-slots }()
			all[i].Available, failed[i] = available(ctx, logins, all[i])
		})
	}
	wait.Wait()
	return errors.Join(failed...)
}

func available(ctx context.Context, logins artifact.Logins, st Status) (string, error) {
	source, err := artifact.ParseSource(st.Ref)
	if err != nil || source.Image == nil { // a file that is gone, or was put there by hand
		return "", nil
	}
	newer, err := artifact.LookForNewer(ctx, logins, source, st.Digest)
	return newer.Ref, err
}
