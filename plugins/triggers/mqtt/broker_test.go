package mqtt

import (
	"net"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/eclipse/paho.mqtt.golang/packets"

	"github.com/dogwatch/dogwatch/plugins/triggers/mqtt/mqtttest"
)

// broker is where a test publishes to.
type broker interface {
	URL() string
	// Stop ends it, and with it all that it holds; Start starts it again at the same place.
	Stop()
	Start()
}

// brokers are a broker in this process, for machines without any, and a real one.
func brokers() map[string]func(*testing.T) broker {
	return map[string]func(*testing.T) broker{
		"fake":      func(t *testing.T) broker { return newFake(t) },
		"mosquitto": func(t *testing.T) broker { return mqtttest.Start(t, "") },
	}
}

// onEach runs a test with each of the brokers.
func onEach(t *testing.T, test func(t *testing.T, b broker)) {
	for name, make := range brokers() {
		t.Run(name, func(t *testing.T) { test(t, make(t)) })
	}
}

// fake is a small broker: retained messages, wills, + and #, and every quality of service.
type fake struct {
	t       *testing.T
	address string
	// password, if set, is what clients must show.
	password string

	mu       sync.Mutex
	listener net.Listener
	peers    map[*peer]bool
	retained map[string][]byte
	wait     sync.WaitGroup
}

// peer is a client of the fake.
type peer struct {
	conn    net.Conn
	filters []string
	will    *packets.PublishPacket

	mu sync.Mutex // held while something is written
}

func newFake(t *testing.T) *fake {
	t.Helper()
	b := &fake{t: t, address: "127.0.0.1:0"}
	b.Start()
	t.Cleanup(b.Stop)
	return b
}

func (b *fake) URL() string { return "mqtt://" + b.address }

func (b *fake) Start() {
	l, err := net.Listen("tcp", b.address)
	if err != nil {
		b.t.Fatal(err)
	}
	b.mu.Lock()
	b.address, b.listener, b.peers, b.retained = l.Addr().String(), l, map[*peer]bool{}, map[string][]byte{}
	b.mu.Unlock()
	b.wait.Go(func() {
		for {
			conn, err := l.Accept()
			if err != nil {
				return
			}
			b.wait.Go(func() { b.serve(&peer{conn: conn}) })
		}
	})
}

func (b *fake) Stop() {
	b.listener.Close()
	b.breakThose(func(*peer) bool { return true })
	b.wait.Wait()
}

// breakSubscribers breaks the connections that have a last will, as a network that fails does.
func (b *fake) breakSubscribers() { b.breakThose(func(p *peer) bool { return p.will != nil }) }

func (b *fake) breakThose(which func(*peer) bool) {
	b.mu.Lock()
	defer b.mu.Unlock()
	for p := range b.peers {
		if which(p) {
			p.conn.Close()
		}
	}
}

func (b *fake) serve(p *peer) {
	defer p.conn.Close()
	b.mu.Lock()
	b.peers[p] = true
	b.mu.Unlock()
	for {
		packet, err := packets.ReadPacket(p.conn)
		if err == nil {
			err = b.handle(p, packet)
		}
		if err != nil {
			break
		}
	}
	b.mu.Lock()
	delete(b.peers, p)
	b.mu.Unlock()
	if p.will != nil {
		b.publish(p.will)
	}
}

func (p *peer) write(packet packets.ControlPacket) error {
	p.mu.Lock()
	defer p.mu.Unlock()
	return packet.Write(p.conn)
}

// handle does what one packet requests.
func (b *fake) handle(p *peer, packet packets.ControlPacket) error {
	switch in := packet.(type) {
	case *packets.ConnectPacket:
		ack := packets.NewControlPacket(packets.Connack).(*packets.ConnackPacket)
		if b.password != "" && string(in.Password) != b.password {
			ack.ReturnCode = packets.ErrRefusedNotAuthorised
		}
		if in.WillFlag {
			will := packets.NewControlPacket(packets.Publish).(*packets.PublishPacket)
			will.TopicName, will.Payload, will.Retain = in.WillTopic, in.WillMessage, in.WillRetain
			b.setWill(p, will)
		}
		return p.write(ack)
	case *packets.SubscribePacket:
		ack := packets.NewControlPacket(packets.Suback).(*packets.SubackPacket)
		ack.MessageID, ack.ReturnCodes = in.MessageID, make([]byte, len(in.Topics))
		b.mu.Lock()
		p.filters = append(p.filters, in.Topics...)
		b.mu.Unlock()
		if err := p.write(ack); err != nil {
			return err
		}
		return b.remind(p, in.Topics)
	case *packets.PublishPacket:
		b.publish(in)
		if in.Qos > 0 {
			return p.write(b.acknowledge(in))
		}
	case *packets.PubrelPacket:
		ack := packets.NewControlPacket(packets.Pubcomp).(*packets.PubcompPacket)
		ack.MessageID = in.MessageID
		return p.write(ack)
	case *packets.PingreqPacket:
		return p.write(packets.NewControlPacket(packets.Pingresp))
	case *packets.DisconnectPacket:
		b.setWill(p, nil)
		return net.ErrClosed
	}
	return nil
}

func (b *fake) setWill(p *peer, will *packets.PublishPacket) {
	b.mu.Lock()
	defer b.mu.Unlock()
	p.will = will
}

func (b *fake) acknowledge(in *packets.PublishPacket) packets.ControlPacket {
	if in.Qos == 1 {
		ack := packets.NewControlPacket(packets.Puback).(*packets.PubackPacket)
		ack.MessageID = in.MessageID
		return ack
	}
	ack := packets.NewControlPacket(packets.Pubrec).(*packets.PubrecPacket)
	ack.MessageID = in.MessageID
	return ack
}

// remind sends what is retained to a new subscriber.
func (b *fake) remind(p *peer, filters []string) error {
	b.mu.Lock()
	defer b.mu.Unlock()
	for topic, payload := range b.retained {
		if slices.ContainsFunc(filters, func(f string) bool { return matches(f, topic) }) {
			out := packets.NewControlPacket(packets.Publish).(*packets.PublishPacket)
			out.TopicName, out.Payload, out.Retain = topic, payload, true
			if err := p.write(out); err != nil {
				return err
			}
		}
	}
	return nil
}

func (b *fake) publish(in *packets.PublishPacket) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if in.Retain {
		if b.retained[in.TopicName] = in.Payload; len(in.Payload) == 0 {
			delete(b.retained, in.TopicName)
		}
	}
	for p := range b.peers {
		if slices.ContainsFunc(p.filters, func(f string) bool { return matches(f, in.TopicName) }) {
			out := packets.NewControlPacket(packets.Publish).(*packets.PublishPacket)
			out.TopicName, out.Payload = in.TopicName, in.Payload
			_ = p.write(out) // one that is gone is noticed by its own goroutine
		}
	}
}

// matches reports whether a topic is one of a filter.
func matches(filter, topic string) bool {
	levels, want := strings.Split(topic, "/"), strings.Split(filter, "/")
	for i, w := range want {
		switch {
		case w == "#":
			return true
		case i >= len(levels), w != "+" && w != levels[i]:
			return false
		}
	}
	return len(levels) == len(want)
}
