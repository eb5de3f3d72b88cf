package smtp

import (
	"errors"
	"net"
	"strconv"
	"testing"

	"github.com/dogwatch/dogwatch/sdk"
	"github.com/dogwatch/dogwatch/sdk/plugintest"
)

func TestProbeLogsInAndSendsNothing(t *testing.T) {
	s := start(t, &server{mechanisms: []string{"PLAIN"}, onMail: reject(553, "a mail was begun")})
	o := options(s)
	found, err := plugintest.Trigger(t, Type(), o).Probe(t.Context(), sdk.ProbeRequest{})
	if err != nil ||
		found.Summary != "mail server "+net.JoinHostPort(s.host, strconv.Itoa(s.port))+" responds and accepts the login" {
		t.Errorf("got %+v, %v", found, err)
	}
	select {
	case m := <-s.mails:
		t.Errorf("a mail was sent: %+v", m)
	default:
	}
	o["pass"] = "recognisable-mistake"
	if _, err := plugintest.Trigger(t, Type(), o).Probe(t.Context(), sdk.ProbeRequest{}); !errors.Is(err,
		sdk.ErrUnauthorized) {
		t.Errorf("with a wrong password: %v", err)
	}
}
