package verify

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/dogwatch/dogwatch/internal/pluginclient"
	"github.com/dogwatch/dogwatch/internal/protocol"
	"github.com/dogwatch/dogwatch/sdk"
	"github.com/dogwatch/dogwatch/sdk/kind"
	"github.com/dogwatch/dogwatch/sdk/watcher"
)

// watchTime is how long a watcher follows the events of a server that hangs before the
// host gives it up, unless it sends a request earlier.
const watchTime = 2 * time.Second

// remedyWatchEnd is what to do about a watch that goes on.
const remedyWatchEnd = "return from Watch when gRPC cancels it, and end its requests and timers"

// watched has a watcher follow events and gives that up, in a process of its own: a client
// of gRPC sees a call end that it cancels, so whether the plugin ended it, too, shows in
// its request to the server, in Release and in its end, if at all.
func (s *subject) watched(ctx context.Context) {
	hanging, in, err := s.against(hangs, "")
	if err != nil {
		s.exam.skip([]string{checkWatch, checkWatchEnd}, s.name, err.Error())
		return
	}
	defer hanging.close()
	process, err := s.exam.host.Try(ctx, s.path, []pluginclient.Instance{in})
	if err != nil {
		s.failed(checkWatch, "it did not start once more: "+err.Error(), "")
		s.skip(checkWatchEnd, "it did not start")
		return
	}
	main := s.process
	s.process = process
	defer func() { s.process = main }()
	gaveUp, requested := s.follow(ctx, in, hanging)
	end := process.Close()
	switch {
	case !gaveUp:
	case end.Killed && !s.has(checkShutdown, Failed):
		s.failed(checkWatchEnd, "after the host had given up watching it did not end by itself, as it does without", remedyWatchEnd)
	case !requested && !s.releaseWaits():
		s.skip(checkWatchEnd,
			"it made no request while it watched, so whether it stopped when the call was cancelled cannot be seen from outside: test that where it is written")
	default:
		s.ok(checkWatchEnd, "")
	}
}

// releaseWaits reports whether Release answers once no call of the instance runs any more, as
// it does in the SDK for Go, which alone says a number as its version.
func (s *subject) releaseWaits() bool {
	return s.report.SDK != "" && s.report.SDK[0] >= '0' && s.report.SDK[0] <= '9'
}

// follow configures and watches an instance and gives that up. It reports whether that
// ended as far as is seen before the process ends, if not, both checks have their results; and
// whether a request had come to the server.
func (s *subject) follow(ctx context.Context, in pluginclient.Instance, hanging *server) (gaveUp, requested bool) {
	if _, err := s.configure(ctx, in); err != nil {
		s.exam.skip([]string{checkWatch, checkWatchEnd}, s.name, "it was not configured: "+err.Error())
		return false, requested
	}
	watching, giveUp := context.WithCancel(ctx)
	defer giveUp()
	ended := make(chan error, 1)
	go func() { ended <- s.watch(watching) }()
	select {
	case err := <-ended:
		s.judgeWatch(err)
		s.skip(checkWatchEnd, "it follows no events here")
		return false, requested
	case <-hanging.reached:
		requested = true
	case <-time.After(watchTime):
	}
	if slices.Contains(s.typ.Capabilities, kind.CapWatch) {
		s.ok(checkWatch, "")
	} else {
		s.failed(checkWatch, "it follows events, but does not have the capability watch, without which Dogwatch does not call Watch",
			"describe it with the capability watch, or answer UNIMPLEMENTED")
	}
	giveUp()
	if requested {
		select {
		case <-hanging.left:
		case <-time.After(leaveTime):
			s.failed(checkWatchEnd, fmt.Sprintf("%s after the host had given up watching, its request went on", leaveTime), remedyWatchEnd)
			return false, requested
		}
	}
	release, cancel := context.WithTimeout(ctx, leaveTime)
	defer cancel()
	if err := s.process.Client.Release(release, in.ID); err != nil {
		s.failed(checkWatchEnd, "released after the host had given up watching, it answered: "+err.Error(),
			remedyWatchEnd)
		return false, requested
	}
	return true, requested
}

// watch follows events until ctx ends.
func (s *subject) watch(ctx context.Context) error {
	err := s.process.Client.Watcher(s.id).Watch(ctx, func(e watcher.Event) {
		s.transcript.add(e.Action + " " + e.Status)
	})
	if err != nil {
		s.transcript.add(err.Error())
	}
	return err
}

// judgeWatch judges a watch that ended by itself.
func (s *subject) judgeWatch(err error) {
	switch {
	case err == nil, errors.Is(err, sdk.ErrUnsupported), errors.Is(err, protocol.ErrUnknownInstance):
		s.ok(checkWatch, "it does not follow events")
	case !hasKind(err):
		s.failed(checkWatch, "the error has no kind: "+err.Error(),
			"answer UNIMPLEMENTED if it does not follow events")
	default:
		s.skip(checkWatch, "what answers here has no events for it ("+err.Error()+"): give options that work with --set")
	}
}
