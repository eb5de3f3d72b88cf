package nomad

import (
	"context"
	"errors"
	"io"
	"sync"
	"time"

	"github.com/hashicorp/go-hclog"
	"golang.org/x/sync/errgroup"

	"github.com/dogwatch/dogwatch/internal/backoff"
	"github.com/dogwatch/dogwatch/plugins/watchers/internal/mirrored"
	"github.com/dogwatch/dogwatch/plugins/watchers/nomad/internal/api"
	"github.com/dogwatch/dogwatch/sdk"
)

// concurrency bounds the jobs that are read at a time.
const concurrency = 8

// key names a job.
type key struct{ namespace, id string }

// mirror keeps the jobs of a namespace in memory as they are. Its methods may be called concurrently, but load and
// Follow by one goroutine.
type mirror struct {
	mirrored.Items[key, api.Job]
	client    *api.Client
	namespace string
	log       hclog.Logger
	listed    bool
}

// mirrors returns mirrors that have nothing yet.
func (n *Nomad) mirrors() (all []*mirror) {
	for _, name := range n.namespaces {
		all = append(all, &mirror{client: n.client, namespace: name, log: n.log.With("namespace", name)})
	}
	return all
}

// load lists the jobs, after an index where that is not 0, and reads those that it does not have as they are. It
// returns the index of the list.
func (m *mirror) load(ctx context.Context, after uint64) (uint64, error) {
	stubs, index, err := m.client.Jobs(ctx, m.namespace, after)
	if err != nil {
		return 0, err
	}
	jobs, changed := map[key]api.Job{}, false
	var mu sync.Mutex
	group, reading := errgroup.WithContext(ctx)
	group.SetLimit(concurrency)
	for _, stub := range stubs {
		of := key{stub.Namespace, stub.ID}
		was, had := m.Get(of)
		switch {
		case stub.ParentID != "": // it runs what its parent says
		case had && was.ModifyIndex == stub.ModifyIndex:
			mu.Lock()
			jobs[of] = was
			mu.Unlock()
		default:
			group.Go(func() error {
				job, err := m.client.Job(reading, of.namespace, of.id)
				if errors.Is(err, sdk.ErrNotFound) {
					return nil // it is gone since
				}
				mu.Lock()
				defer mu.Unlock()
				jobs[of], changed = job, true
				return err
			})
		}
	}
	if err := group.Wait(); err != nil {
		return 0, err
	}
	m.Replace(jobs, m.listed && (changed || len(jobs) != m.Len()))
	m.listed = true
	return index, nil
}

// Follow implements mirrored.Source.
func (m *mirror) Follow(ctx context.Context, changed func()) error {
	return m.Items.Follow(ctx, m.log, backoff.Reconnect, changed, func(ctx context.Context) (bool, error) {
		return m.once(ctx, changed)
	})
}

// once lists the jobs and follows one stream to its end. It reports whether that got on. That events were lost between
// two streams is not said by Nomad, so each begins with a list; of that only what has changed is read.
func (m *mirror) once(ctx context.Context, changed func()) (got bool, err error) {
	index, err := m.load(ctx, 0)
	if err != nil {
		return false, err
	}
	stream, err := m.client.Events(ctx, m.namespace, index)
	if errors.Is(err, sdk.ErrUnauthorized) {
		m.log.Debug("events may not be read, asking with blocking queries", "error", err)
		return m.block(ctx, index, changed)
	}
	if err != nil {
		return false, err
	}
	defer stream.Close()
	m.Found()
	changed()
	started := time.Now()
	for {
		events, err := stream.Next()
		if err != nil {
			got = got || time.Since(started) >= mirrored.Progress
			if errors.Is(err, io.EOF) {
				err = nil
			}
			return got, err
		}
		got = true
		moved, err := m.apply(ctx, events)
		if moved {
			changed()
		}
		if err != nil {
			return got, err
		}
	}
}

// block follows the jobs by lists that the server answers once they have changed.
func (m *mirror) block(ctx context.Context, index uint64, changed func()) (got bool, err error) {
	m.Found()
	changed()
	for {
		if index == 0 {
			return got, nil // there is nothing to wait for
		}
		next, err := m.load(ctx, index)
		if err != nil {
			return got, err
		}
		if next < index { // the cluster was restored
			next = 1
		}
		got, index = true, next
		changed()
	}
}

// apply reads the jobs of events, and reports whether one has changed.
func (m *mirror) apply(ctx context.Context, events []api.Event) (moved bool, err error) {
	done := map[key]bool{}
	for _, e := range events {
		of := key{e.Namespace, e.JobID}
		was, had := m.Get(of)
		starting := e.Allocation == "running" || e.Allocation == "pending"
		if of.id == "" || done[of] || e.Allocation != "" && (!had || starting && was.Status == "running") {
			continue // an allocation counts for the status of the job alone
		}
		done[of] = true
		job, err := m.client.Job(ctx, of.namespace, of.id)
		gone := errors.Is(err, sdk.ErrNotFound) || err == nil && job.ParentID != ""
		switch {
		case gone && !had, err == nil && had && job.ModifyIndex == was.ModifyIndex:
			continue
		case err != nil && !gone:
			return moved, err
		}
		moved = m.Set(of, job, !gone, func(api.Job, api.Job) bool { return false })
	}
	return moved, nil
}
