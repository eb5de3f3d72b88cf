package main

import (
	"cmp"
	"context"
	"errors"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/dogwatch/dogwatch/core/decide/tag"
	"github.com/dogwatch/dogwatch/core/model/event"
	"github.com/dogwatch/dogwatch/core/notify/dispatch"
	"github.com/dogwatch/dogwatch/core/store"
	"github.com/dogwatch/dogwatch/sdk"
)

// demoWatcher is the name of the homelab's watcher.
const demoWatcher = "homelab"

// moment is what was recorded of a container at a time.
type moment struct {
	at   time.Time
	what event.Type
	c    sdk.Container
}

// remember fills a new store with the past of the homelab: when each image that its registries
// have was found, and when the containers were updated to what they run. Nothing of it is
// pending for triggers.
func (l *homelab) remember(ctx context.Context, folder string, now time.Time) error {
	var past []moment
	for i, a := range l.apps {
		history, err := l.pastOf(ctx, a, i, now)
		if err != nil {
			return err
		}
		past = append(past, history...)
	}
	slices.SortStableFunc(past, func(a, b moment) int { return a.at.Compare(b.at) })
	clock := now
	s, err := store.Open(ctx, filepath.Join(folder, "dogwatch.db"), store.Options{Now: func() time.Time { return clock }})
	if err != nil {
		return err
	}
	for _, m := range past {
		clock = m.at
		e := event.Event{At: m.at, Type: m.what, Subject: event.Subject(m.c), Payload: event.Payload{Container: &m.c}}
		if err := s.Commit(ctx, event.Change{Put: []sdk.Container{m.c}, Events: []event.Event{e}}); err != nil {
			s.Close()
			return err
		}
	}
	last, err := s.LastEvent(ctx)
	if err == nil {
		_, err = s.Plan(ctx, dispatch.Reader, last, nil)
	}
	return errors.Join(err, s.Close())
}

// pastOf tells the past of one app, oldest first. Its owner needs some days to install an
// update; nth, the number of the app, says how many.
func (l *homelab) pastOf(ctx context.Context, a demoApp, nth int, now time.Time) ([]moment, error) {
	const noticed, oldest = 40 * time.Minute, 89 * 24 * time.Hour
	c := l.current(a)
	past := []moment{{now.Add(-oldest), event.ContainerAdded, c}}
	// An invalid pattern, a registry that is out of order: nothing is known of what cannot be checked.
	selector, err := tag.Compile(tag.Rules{
		Include: c.Labels["dogwatch.tag.include"], Exclude: c.Labels["diun.exclude_tags"],
	})
	if err != nil || a.site == atticSite || !selector.IsVersion(a.running) {
		return past, nil
	}
	first, err := firstOf(ctx, selector, a)
	if err != nil {
		return nil, err
	}
	run := func(version string) {
		c.Image.Tag.Value, c.Result, c.UpdateAvailable, c.UpdateKind = version, &sdk.Result{Tag: version}, false,
			sdk.UpdateKind{Kind: sdk.KindUnknown}
	}
	run(first)
	past[0].c = c

	type step struct {
		at      time.Time
		tag     string
		install bool
	}
	var steps []step
	for _, t := range strings.Fields(a.tags) {
		image, _ := l.sites[a.site].Image(a.repository(), t)
		pushed := image.Platforms[0].Created
		steps = append(steps, step{at: pushed.Add(noticed), tag: t})
		if t == a.running && first != a.running {
			steps = append(steps, step{at: earlier(pushed.AddDate(0, 0, 2+nth*5%11), now.Add(-noticed)), tag: t, install: true})
		}
	}
	slices.SortStableFunc(steps, func(a, b step) int { return a.at.Compare(b.at) })
	var known []string
	for _, s := range steps {
		if s.install {
			run(s.tag)
			past = append(past, moment{s.at, event.ContainerReplaced, c})
		} else {
			known = append(known, s.tag)
		}
		best, err := selector.Select(ctx, c.Image.Tag.Value, known)
		if err != nil {
			return nil, err
		}
		if best.Tag == c.Image.Tag.Value || best.Tag == c.Result.Tag {
			continue
		}
		c.Result, c.UpdateAvailable = &sdk.Result{Tag: best.Tag}, true
		c.UpdateKind = sdk.UpdateKind{
			Kind: sdk.KindTag, LocalValue: c.Image.Tag.Value, RemoteValue: best.Tag,
			SemverDiff: selector.Diff(c.Image.Tag.Value, best.Tag),
		}
		past = append(past, moment{s.at.Add(time.Second), event.UpdateFound, c})
	}
	return past, nil
}

// firstOf returns the oldest tag of an app from which an update leads to what it runs.
func firstOf(ctx context.Context, selector *tag.Selector, a demoApp) (string, error) {
	for _, t := range strings.Fields(a.tags) {
		best, err := selector.Select(ctx, t, []string{t, a.running})
		if err != nil {
			return "", err
		}
		if best.Tag == a.running {
			return t, nil
		}
	}
	return a.running, nil
}

// current is the container of an app as the first check finds it, so that what is recorded of it holds.
func (l *homelab) current(a demoApp) sdk.Container {
	host, _, _ := strings.Cut(cmp.Or(l.sites[a.site].prefix, "docker.io/"), "/")
	image, _ := l.sites[a.site].Image(a.repository(), a.running)
	ours := image.Platforms[0]
	return sdk.Container{
		ID: a.id, Name: a.name, Watcher: demoWatcher, Labels: a.labels, Status: "running",
		Check: sdk.CheckState{State: sdk.CheckOK},
		Image: sdk.Image{
			ID: ours.Config, Name: a.repository(), OS: ours.Platform.OS, Architecture: ours.Platform.Architecture,
			Created:  sdk.TimeOf(ours.Created),
			Registry: sdk.Registry{Host: host}, Tag: sdk.Tag{Value: a.running, Semver: true},
		},
		UpdateKind: sdk.UpdateKind{Kind: sdk.KindUnknown},
	}
}

// earlier returns the earlier of two times.
func earlier(a, b time.Time) time.Time {
	if b.Before(a) {
		return b
	}
	return a
}
