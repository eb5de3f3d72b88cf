package protocol

import "sync"

// Sender lets several goroutines send on one stream, and none after Close: a
// trigger may still report from a goroutine that outlives its call. A message
// that cannot be sent is dropped; the call learns from its context that the
// other side is gone.
type Sender[T any] struct {
	mu   sync.Mutex
	send func(T) error // nil when closed
}

// NewSender returns a sender on the stream whose method send is.
func NewSender[T any](send func(T) error) *Sender[T] { return &Sender[T]{send: send} }

// Send sends m unless the sender is closed or an earlier message failed.
func (s *Sender[T]) Send(m T) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.send != nil && s.send(m) != nil {
		s.send = nil
	}
}

// Close waits for a running Send and drops every later message.
func (s *Sender[T]) Close() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.send = nil
}
