package pluginclient

import (
	"crypto/tls"
	"encoding/pem"
	"slices"
	"strings"
	"testing"
)

// A process that finds the socket can neither call the plugin nor pass for it.
func TestHostTLSRefusesOtherKeys(t *testing.T) {
	mine, key, err := HostTLS()
	if err != nil {
		t.Fatal(err)
	}
	other, foreign, err := HostTLS()
	if err != nil {
		t.Fatal(err)
	}
	if slices.Equal(key, foreign) {
		t.Fatal("two processes have one key")
	}
	for i, kind := range []string{"CERTIFICATE", "PRIVATE KEY"} {
		_, text, _ := strings.Cut(key[i], "=")
		if block, _ := pem.Decode([]byte(text)); block == nil || block.Type != kind {
			t.Errorf("variable %d has no %s", i, kind)
		}
	}
	for name, test := range map[string]struct {
		host, process *tls.Config
		ok            bool
	}{
		"both know the key":           {mine, mine, true},
		"the host has another key":    {other, mine, false},
		"the process has another key": {mine, other, false},
		"the host has no key at all":  {&tls.Config{InsecureSkipVerify: true}, mine, false},
	} {
		t.Run(name, func(t *testing.T) {
			l, err := tls.Listen("tcp", "127.0.0.1:0", test.process)
			if err != nil {
				t.Fatal(err)
			}
			defer l.Close()
			served := make(chan error, 1)
			go func() {
				conn, err := l.Accept()
				if err == nil {
					_, err = conn.Write([]byte("x"))
					conn.Close()
				}
				served <- err
			}()
			h, err := tls.Dial("tcp", l.Addr().String(), test.host)
			if err == nil {
				_, err = h.Read(make([]byte, 1))
				h.Close()
			}
			if ok := <-served == nil && err == nil; ok != test.ok {
				t.Errorf("they agree: %v (%v), want %v", ok, err, test.ok)
			}
		})
	}
}
