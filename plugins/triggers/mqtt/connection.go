package mqtt

import (
	"context"
	"crypto/rand"
	"encoding/hex"
	"fmt"
	"net"
	"net/url"
	"sync"
	"time"

	paho "github.com/eclipse/paho.mqtt.golang"

	"github.com/dogwatch/dogwatch/sdk"
)

const (
	// writeTimeout bounds the sending of one message to a broker that does not read.
	writeTimeout = 5 * time.Second
	// leaveTime is how many milliseconds the end of a connection may take.
	leaveTime = 250
	// window is how many messages may be under way.
	window = 64
)

// message is what is published: a topic and its payload. An empty payload clears a topic.
type message struct {
	topic   string
	payload []byte
}

// connection is the one connection of an instance. It is open while it is used.
type connection struct {
	brand  brand
	broker address
	qos    byte
	will   message // published by the broker when the connection is lost; none without a topic

	semaphore chan struct{} // of capacity 1; guards current and the users of sessions
	current   *session
}

// use returns the connection, made now if there is none. The
// caller calls leave after its last use.
func (c *connection) use(ctx context.Context) (s *session, leave func(), err error) {
	select {
	case c.semaphore <- struct{}{}:
	case <-ctx.Done():
		return nil, nil, ctx.Err()
	}
	defer func() { <-c.semaphore }()
	if c.current == nil || c.current.over() {
		s, err := c.connect(ctx)
		if err != nil {
			return nil, nil, fmt.Errorf("connect to %s: %w", c.broker, err)
		}
		c.current = s
	}
	s = c.current
	s.users++
	return s, sync.OnceFunc(func() { c.leave(s) }), nil
}

func (c *connection) leave(s *session) {
	c.semaphore <- struct{}{}
	defer func() { <-c.semaphore }()
	if s.users--; s.users > 0 {
		return
	}
	if c.current == s {
		c.current = nil
	}
	s.client.Disconnect(leaveTime)
	s.conn.Close() // in case that took too long
}

// connect makes a connection and logs in.
func (c *connection) connect(ctx context.Context) (*session, error) {
	caller := ctx
	ctx, cancel := context.WithTimeout(ctx, connectTimeout)
	defer cancel()
	s := &session{qos: c.qos, lost: make(chan struct{})}
	var abort func() bool
	o := paho.NewClientOptions().AddBroker("tcp://" + c.broker.url.Host).
		SetClientID(c.broker.clientID).SetUsername(c.broker.user).SetPassword(c.broker.password).
		// A lost connection is not restored: the next one publishes everything.
		SetCleanSession(true).SetAutoReconnect(false).SetConnectRetry(false).SetProtocolVersion(4).
		SetConnectTimeout(connectTimeout).SetWriteTimeout(writeTimeout).
		SetConnectionLostHandler(func(_ paho.Client, err error) { s.end(err) }).
		SetCustomOpenConnectionFn(func(*url.URL, paho.ClientOptions) (net.Conn, error) {
			conn, err := c.broker.open(ctx)
			if err == nil {
				s.conn = conn
				abort = context.AfterFunc(ctx, func() { conn.Close() })
			}
			return conn, err
		})
	if c.broker.clientID == "" {
		o.SetClientID(c.brand.randomID())
	}
	if c.will.topic != "" {
		o.SetBinaryWill(c.will.topic, c.will.payload, c.qos, true)
	}
	s.client = paho.NewClient(o)
	token := s.client.Connect()
	<-token.Done() // soon, whatever happens: the end of ctx closes what is open
	err := token.Error()
	if abort != nil && !abort() && err == nil {
		s.client.Disconnect(0)
		err = ctx.Err()
	}
	switch {
	case err == nil:
		return s, nil
	case caller.Err() != nil:
		return nil, caller.Err()
	case ctx.Err() != nil:
		err = fmt.Errorf("no answer within %s", connectTimeout)
	}
	return nil, c.broker.explain(err)
}

// randomID is a client identifier, such as wud_ and digits, within the 23 characters that every broker accepts.
func (b brand) randomID() string {
	digits := make([]byte, 4)
	_, _ = rand.Read(digits) // never fails
	return b.String() + "_" + hex.EncodeToString(digits)
}

// session is one connection. What is lost is not restored: the next one is another session.
type session struct {
	client paho.Client
	conn   net.Conn
	qos    byte
	users  int // guarded by connection.semaphore

	ending sync.Once
	lost   chan struct{}
	why    error // set before lost is closed
}

// end marks the connection as lost.
func (s *session) end(why error) {
	s.ending.Do(func() {
		s.why = sdk.WithKind(sdk.ErrUnavailable, fmt.Errorf("the connection was lost: %w", why))
		close(s.lost)
	})
}

func (s *session) over() bool {
	select {
	case <-s.lost:
		return true
	default:
		return false
	}
}

// publish hands messages to the broker and waits until it has them, which
// without a quality of service means that they are on their way. An error, but
// for that of ctx, ends the session.
func (s *session) publish(ctx context.Context, all []message, retain bool) error {
	for len(all) > 0 {
		some := all[:min(window, len(all))]
		all = all[len(some):]
		var tokens []paho.Token
		for _, m := range some {
			if err := s.alive(ctx); err != nil {
				return err
			}
			tokens = append(tokens, s.client.Publish(m.topic, s.qos, retain, m.payload))
		}
		for _, t := range tokens {
			if err := s.wait(ctx, t); err != nil {
				return err
			}
		}
	}
	return nil
}

// subscribe calls notify with each message that is published to a topic from now
// on; retained ones are skipped. notify must not block.
func (s *session) subscribe(ctx context.Context, filter string, notify func(topic string, payload []byte)) error {
	return s.wait(ctx, s.client.Subscribe(filter, max(s.qos, 1), func(_ paho.Client, m paho.Message) {
		if !m.Retained() {
			notify(m.Topic(), m.Payload())
		}
	}))
}

// alive returns why nothing can be sent any more.
func (s *session) alive(ctx context.Context) error {
	if s.over() {
		return s.why
	}
	return ctx.Err()
}

func (s *session) wait(ctx context.Context, t paho.Token) error {
	select {
	case <-t.Done():
	case <-s.lost:
		return s.why
	case <-ctx.Done():
		return ctx.Err()
	}
	if err := t.Error(); err != nil {
		s.end(err)
		return s.why
	}
	return nil
}
