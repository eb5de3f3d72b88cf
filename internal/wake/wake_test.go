package wake

import "testing"

func TestSignalIsOneValue(t *testing.T) {
	s := New()
	if len(s) != 0 {
		t.Error("it is set from the start")
	}
	s.Set()
	s.Set() // must not block
	<-s
	if len(s) != 0 {
		t.Error("what was set twice is received twice")
	}
	s.Set()
	<-s
}
