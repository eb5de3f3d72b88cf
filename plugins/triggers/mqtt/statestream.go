package mqtt

import (
	"context"
	"strings"
	"sync"
	"time"

	"github.com/dogwatch/dogwatch/internal/backoff"
	"github.com/dogwatch/dogwatch/internal/wake"
	"github.com/dogwatch/dogwatch/sdk/trigger"
)

const (
	// The backoff between attempts to connect grows from minBackoff to maxBackoff; WUD retries every ten seconds.
	minBackoff = time.Second
	maxBackoff = 10 * time.Second
	// steady is how long a connection must have lasted for its loss to be a warning.
	steady = time.Minute
	// offlineTimeout bounds the last message; the process may have little time left.
	offlineTimeout = time.Second
	// maxCommands is how many presses of Install may wait in the queue.
	maxCommands = 256
)

// subscription is one call of Subscribe.
type subscription struct {
	*mqtt
	stream  trigger.StateStream
	changes chan trigger.Change
	wait    sync.WaitGroup

	// These belong to the goroutine of Subscribe.
	known    bool             // whether the whole state has been received
	cards    map[string]*card // by container id
	watchers map[string]trigger.WatcherState
	topics   map[string]string // container id by topic, as published last
	// operations are those under way.
	operations map[subject]trigger.OperationState

	births   wake.Signal // birth messages: Home Assistant has started
	commands chan string // topics of containers to update
	presses  chan press  // buttons that were pressed
	queue    []string    // those topics, the first of which is under way when busy
	busy     bool
	ended    chan error
	failures map[string]string // why the last Install did not work, by topic
}

// subject is the container of an operation.
type subject struct{ watcher, name string }

// Subscribe keeps what the broker retains equal to the state of the stream until
// ctx or the stream ends, and returns why. It reconnects to a lost broker with a
// backoff.
func (m *mqtt) Subscribe(ctx context.Context, stream trigger.StateStream) error {
	ctx, cancel := context.WithCancelCause(ctx)
	sub := &subscription{
		mqtt: m, stream: stream, changes: make(chan trigger.Change),
		cards: map[string]*card{}, watchers: map[string]trigger.WatcherState{},
		operations: map[subject]trigger.OperationState{},
		births:     wake.New(), commands: make(chan string, maxCommands),
		presses: make(chan press, maxCommands), ended: make(chan error, 1),
		failures: map[string]string{},
	}
	sub.wait.Go(func() { cancel(sub.receive(ctx)) })
	failures, quiet := 0, false
	for ctx.Err() == nil {
		began := time.Now()
		err := sub.connected(ctx, func() {
			if quiet {
				m.log.Info("the broker is back", "broker", m.connection.broker)
			}
		})
		if ctx.Err() != nil {
			break
		}
		if lasted := time.Since(began); lasted > steady {
			failures, quiet = 0, false
		}
		if quiet {
			m.log.Debug("the broker is still away", "error", err)
		} else {
			m.log.Warn("the broker is away; trying again until it is back", "error", err)
		}
		quiet = true
		failures++
		_ = backoff.Wait(ctx, backoff.Pauses{First: minBackoff, Longest: maxBackoff}.After(failures))
	}
	sub.wait.Wait()
	return context.Cause(ctx)
}

// receive passes the changes of the stream on, one at a time, until it ends.
func (sub *subscription) receive(ctx context.Context) error {
	for {
		c, err := sub.stream.Next(ctx)
		if err != nil {
			return err
		}
		select {
		case sub.changes <- c:
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}

// connected serves one connection. It returns why it ended.
func (sub *subscription) connected(ctx context.Context, up func()) error {
	s, leave, err := sub.connection.use(ctx)
	if err != nil {
		return err
	}
	defer leave()
	up()
	err = sub.serve(ctx, s)
	if ctx.Err() != nil && sub.hass != nil {
		ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), offlineTimeout)
		defer cancel()
		// When it does not arrive, the broker publishes the same as the last will.
		_ = s.publish(ctx, []message{sub.connection.will}, true)
	}
	return err
}

// serve publishes what changes until the connection or ctx ends.
func (sub *subscription) serve(ctx context.Context, s *session) error {
	if err := sub.listen(ctx, s); err != nil {
		return err
	}
	// A new connection may be to a broker that has lost its retained messages.
	if err := sub.retained.invalidate(ctx); err != nil {
		return err
	}
	for {
		if err := sub.retained.sync(ctx, s, sub.desired()); err != nil {
			return err
		}
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-s.lost:
			return s.why
		case c := <-sub.changes:
			if err := sub.take(ctx, c); err != nil {
				return err
			}
		case <-sub.births:
			if err := sub.retained.invalidate(ctx); err != nil {
				return err
			}
		case topic := <-sub.commands:
			sub.enqueue(topic)
		case p := <-sub.presses:
			sub.decideAbout(ctx, p)
		case err := <-sub.ended:
			sub.installed(err)
		case <-sub.retained.stale:
		}
		sub.next(ctx)
	}
}

// listen subscribes to the birth messages and commands of Home Assistant.
func (sub *subscription) listen(ctx context.Context, s *session) error {
	if sub.hass == nil {
		return nil
	}
	err := s.subscribe(ctx, sub.hass.prefix+"/status", func(_ string, payload []byte) {
		if string(payload) == online {
			sub.births.Set()
		}
	})
	if err == nil && sub.hass.decide {
		err = sub.listenChoices(ctx, s)
	}
	if err != nil || sub.hass.install == "" {
		return err
	}
	return s.subscribe(ctx, command(sub.names.root+"/+/+"), func(topic string, payload []byte) {
		if string(payload) != install {
			return
		}
		select {
		case sub.commands <- strings.TrimSuffix(topic, command("")):
		default:
			sub.log.Warn("too many updates are asked for at a time; one is ignored", "topic", topic)
		}
	})
}

// take applies a change.
func (sub *subscription) take(ctx context.Context, c trigger.Change) error {
	if c.All {
		sub.known = true
		clear(sub.cards)
		clear(sub.watchers)
		clear(sub.operations)
	}
	var gone []string
	for _, was := range c.Removed {
		delete(sub.cards, was.ID)
		topic := sub.names.container(was)
		delete(sub.failures, topic)
		gone = append(gone, topic)
		if sub.hass != nil && sub.hass.discovery {
			gone = append(gone, sub.hass.announcement(update, topic))
			gone = append(gone, sub.hass.buttonAnnouncements(topic)...)
		}
	}
	for _, put := range c.Put {
		if had := sub.cards[put.ID]; had != nil && !c.All && had.Image.ID != put.Image.ID {
			delete(sub.failures, had.topic) // which was about the image before
		}
		sub.cards[put.ID] = &card{Container: put}
		if sub.hass != nil && c.All { // an earlier process may have announced buttons of an update that is gone
			gone = append(gone, sub.hass.buttonAnnouncements(sub.names.container(put))...)
		}
	}
	for _, w := range c.Watchers {
		sub.watchers[w.Name] = w
	}
	for _, o := range c.Operations {
		if container := (subject{o.Watcher, o.Name}); o.Running {
			sub.operations[container] = o
		} else {
			delete(sub.operations, container)
		}
	}
	return sub.retained.mayHold(ctx, gone)
}
