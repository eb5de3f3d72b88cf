package mqtttest

import (
	"maps"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	paho "github.com/eclipse/paho.mqtt.golang"

	"github.com/dogwatch/dogwatch/internal/wake"
)

// Observer is another client of the broker, as Home Assistant is.
type Observer struct {
	t      testing.TB
	client paho.Client

	mu       sync.Mutex
	retained map[string]string // what was retained when it came, and what was published since
	received []string          // "topic payload" of what was published since
	changed  wake.Signal
}

// Observe connects to a broker and records everything until the test ends.
func Observe(t testing.TB, url string) *Observer {
	t.Helper()
	o := &Observer{t: t, retained: map[string]string{}, changed: wake.New()}
	o.client = paho.NewClient(paho.NewClientOptions().AddBroker(strings.Replace(url, "mqtt://", "tcp://",
		1)).SetClientID("observer").SetAutoReconnect(false))
	o.must(o.client.Connect())
	o.must(o.client.Subscribe("#", 0, o.record))
	t.Cleanup(func() { o.client.Disconnect(100) })
	return o
}

func (o *Observer) must(token paho.Token) {
	o.t.Helper()
	if !token.WaitTimeout(maxWait) || token.Error() != nil {
		o.t.Fatal("the broker does not answer: ", token.Error())
	}
}

func (o *Observer) record(_ paho.Client, m paho.Message) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.retained[m.Topic()] = string(m.Payload()); len(m.Payload()) == 0 {
		delete(o.retained, m.Topic())
	}
	if !m.Retained() {
		o.received = append(o.received, m.Topic()+" "+string(m.Payload()))
	}
	o.changed.Set()
}

// Say publishes something.
func (o *Observer) Say(topic, payload string, retain bool) {
	o.t.Helper()
	o.must(o.client.Publish(topic, 1, retain, payload))
}

// Until waits for a condition of what the broker holds and has passed on.
func (o *Observer) Until(what string, condition func(retained map[string]string, received []string) bool) {
	o.t.Helper()
	end := time.After(maxWait)
	for {
		o.mu.Lock()
		done := condition(o.retained, o.received)
		o.mu.Unlock()
		if done {
			return
		}
		select {
		case <-o.changed:
		case <-end:
			o.mu.Lock()
			defer o.mu.Unlock()
			o.t.Fatalf("never: %s\ntopics: %q\nheard last: %q", what, slices.Sorted(maps.Keys(o.retained)),
				o.received[max(len(o.received)-5, 0):])
		}
	}
}

// UntilHolds waits until a topic holds a payload, or nothing for "".
func (o *Observer) UntilHolds(topic, payload string) {
	o.t.Helper()
	o.Until(topic+" holds "+payload, func(retained map[string]string, _ []string) bool {
		return retained[topic] == payload
	})
}

// UntilHas waits until what a topic holds has a piece of text in it.
func (o *Observer) UntilHas(topic, piece string) {
	o.t.Helper()
	o.Until(topic+" has "+piece, func(retained map[string]string, _ []string) bool {
		return strings.Contains(retained[topic], piece)
	})
}

// Count returns how many messages came since it was called last.
func (o *Observer) Count() int {
	o.mu.Lock()
	defer o.mu.Unlock()
	n := len(o.received)
	o.received = nil
	return n
}

// Topics returns what the topics hold now.
func (o *Observer) Topics() map[string]string {
	o.mu.Lock()
	defer o.mu.Unlock()
	return maps.Clone(o.retained)
}
