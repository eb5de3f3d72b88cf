package mqtt

import (
	"context"
	"strings"
	"sync"
	"time"

	"github.com/dogwatch/dogwatch/sdk/trigger"
)

const (
	// A connection is tried again after shortestPause, and later when it fails again; WUD tries every ten seconds.
	shortestPause = time.Second
	longestPause  = 10 * time.Second
	// steady is how long a connection must have lasted to be worth a word when it is lost.
	steady = time.Minute
	// goodbye bounds the last message; the process may have little time left.
	goodbye = time.Second
	// maxCommands is how many presses of Install may wait to be looked at.
	maxCommands = 256
)

// follower is one call of Follow.
type follower struct {
	*mqtt
	world   trigger.StateStream
	changes chan trigger.Change
	wait    sync.WaitGroup

	// These belong to the goroutine of Follow.
	known    bool             // whether everything has been told
	cards    map[string]*card // by container id
	watchers map[string]trigger.WatcherState
	topics   map[string]string // container id by topic, as published last

	births   chan struct{} // Home Assistant has started
	commands chan string   // topics of containers to update
	queue    []string      // those topics, the first of which is under way when busy
	busy     bool
	ended    chan struct{}
}

// Follow keeps the broker in step with w. A broker that is away is waited for.
func (m *mqtt) Subscribe(ctx context.Context, w trigger.StateStream) error {
	ctx, cancel := context.WithCancelCause(ctx)
	f := &follower{
		mqtt: m, world: w, changes: make(chan trigger.Change),
		cards: map[string]*card{}, watchers: map[string]trigger.WatcherState{},
		births: make(chan struct{}, 1), commands: make(chan string, maxCommands), ended: make(chan struct{}, 1),
	}
	f.wait.Go(func() { cancel(f.hear(ctx)) })
	pause, quiet := shortestPause, false
	for ctx.Err() == nil {
		began := time.Now()
		err := f.connected(ctx, func() {
			if quiet {
				m.log.Info("the broker is back", "broker", m.link.broker)
			}
		})
		if ctx.Err() != nil {
			break
		}
		if lasted := time.Since(began); lasted > steady {
			pause, quiet = shortestPause, false
		}
		if quiet {
			m.log.Debug("the broker is still away", "error", err)
		} else {
			m.log.Warn("the broker is away; trying again until it is back", "error", err)
		}
		quiet = true
		rest(ctx, pause)
		pause = min(2*pause, longestPause)
	}
	f.wait.Wait()
	return context.Cause(ctx)
}

func rest(ctx context.Context, pause time.Duration) {
	timer := time.NewTimer(pause)
	defer timer.Stop()
	select {
	case <-timer.C:
	case <-ctx.Done():
	}
}

// hear passes on what changes, one at a time, until there is no more.
func (f *follower) hear(ctx context.Context) error {
	for {
		c, err := f.world.Next(ctx)
		if err != nil {
			return err
		}
		select {
		case f.changes <- c:
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}

// connected serves one connection. It returns why it ended.
func (f *follower) connected(ctx context.Context, up func()) error {
	s, leave, err := f.link.use(ctx)
	if err != nil {
		return err
	}
	defer leave()
	up()
	err = f.serve(ctx, s)
	if ctx.Err() != nil && f.hass != nil {
		ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), goodbye)
		defer cancel()
		// When it does not get there, the broker says it itself: it has the same as the last will.
		_ = s.publish(ctx, []message{f.link.will}, true)
	}
	return err
}

// serve keeps the broker in step until the connection or ctx ends.
func (f *follower) serve(ctx context.Context, s *session) error {
	if err := f.listen(ctx, s); err != nil {
		return err
	}
	// A new connection may be to a broker that has forgotten everything.
	if err := f.board.doubt(ctx); err != nil {
		return err
	}
	for {
		if err := f.board.show(ctx, s, f.wanted()); err != nil {
			return err
		}
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-s.lost:
			return s.why
		case c := <-f.changes:
			if err := f.take(ctx, c); err != nil {
				return err
			}
		case <-f.births:
			if err := f.board.doubt(ctx); err != nil {
				return err
			}
		case topic := <-f.commands:
			f.enqueue(topic)
		case <-f.ended:
			f.queue, f.busy = f.queue[1:], false
		case <-f.board.stale:
		}
		f.next(ctx)
	}
}

// listen subscribes to what Home Assistant says.
func (f *follower) listen(ctx context.Context, s *session) error {
	if f.hass == nil {
		return nil
	}
	err := s.subscribe(ctx, f.hass.prefix+"/status", func(_ string, payload []byte) {
		if string(payload) != online {
			return
		}
		select {
		case f.births <- struct{}{}:
		default:
		}
	})
	if err != nil || f.hass.install == "" {
		return err
	}
	return s.subscribe(ctx, command(f.names.root+"/+/+"), func(topic string, payload []byte) {
		if string(payload) != install {
			return
		}
		select {
		case f.commands <- strings.TrimSuffix(topic, command("")):
		default:
			f.log.Warn("too many updates are asked for at a time; one is ignored", "topic", topic)
		}
	})
}

// take takes a change into what is known.
func (f *follower) take(ctx context.Context, c trigger.Change) error {
	if c.All {
		f.known = true
		clear(f.cards)
		clear(f.watchers)
	}
	var gone []string
	for _, was := range c.Removed {
		delete(f.cards, was.ID)
		topic := f.names.container(was)
		gone = append(gone, topic)
		if f.hass != nil && f.hass.discovery {
			gone = append(gone, f.hass.announcement(update, topic))
		}
	}
	for _, is := range c.Put {
		f.cards[is.ID] = &card{Container: is}
	}
	for _, w := range c.Watchers {
		f.watchers[w.Name] = w
	}
	return f.board.left(ctx, gone)
}
