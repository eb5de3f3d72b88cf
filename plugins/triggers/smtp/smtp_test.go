package smtp

import (
	"context"
	"crypto/tls"
	"errors"
	"maps"
	"net"
	"net/mail"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	gosmtp "github.com/emersion/go-smtp"

	"github.com/dogwatch/dogwatch/plugins/triggers/internal/golden"
	"github.com/dogwatch/dogwatch/plugins/triggers/internal/sink"
	"github.com/dogwatch/dogwatch/sdk"
	"github.com/dogwatch/dogwatch/sdk/trigger"
	"github.com/dogwatch/dogwatch/sdk/triggertest"
)

func options(s *server) map[string]any {
	o := map[string]any{"host": s.host, "port": s.port, "from": "Dogwatch <dogwatch@example.org>", "to": "ops@example.org"}
	if len(s.mechanisms) > 0 {
		o["user"], o["pass"] = account, password
	}
	return o
}

func serving(s server) func(*testing.T) map[string]any {
	return func(t *testing.T) map[string]any {
		copied := s
		return options(start(t, &copied))
	}
}

func TestConformance(t *testing.T) {
	plain := []string{"PLAIN"}
	triggertest.Run(t, Type(), triggertest.Case{
		Options: serving(server{mechanisms: plain}),
		Hanging: func(t *testing.T, reached func()) map[string]any {
			return map[string]any{"host": "127.0.0.1", "port": sink.Script(t, "", "", reached).Port, "from": "a@b", "to": "c@d"}
		},
		Failing: []triggertest.Failure{
			{
				Name: "greylisted", Kind: sdk.ErrUnavailable,
				Options: serving(server{mechanisms: plain, onRcpt: reject(451, "greylisted")}),
			},
			{
				Name: "unknown recipient", Kind: &sdk.InvalidError{},
				Options: serving(server{mechanisms: plain, onRcpt: reject(550, "no such user")}),
			},
			{
				Name: "unwanted sender", Kind: &sdk.InvalidError{},
				Options: serving(server{mechanisms: plain, onMail: reject(553, "not you")}),
			},
			{
				Name: "unwanted mail", Kind: &sdk.InvalidError{},
				Options: serving(server{mechanisms: plain, onData: reject(554, "spam")}),
			},
			{Name: "full", Kind: sdk.ErrUnavailable, Options: serving(server{mechanisms: plain, onData: reject(452, "full")})},
			{Name: "wrong password", Kind: sdk.ErrUnauthorized, Options: func(t *testing.T) map[string]any {
				o := options(start(t, &server{mechanisms: plain}))
				o["pass"] = "recognisable-mistake"
				return o
			}},
			{Name: "no login", Kind: sdk.ErrUnauthorized, Options: func(t *testing.T) map[string]any {
				o := options(start(t, &server{mechanisms: plain}))
				delete(o, "user")
				delete(o, "pass")
				return o
			}},
			{
				Name: "login out of order", Kind: sdk.ErrUnavailable,
				Options: serving(server{mechanisms: plain, onLogin: reject(454, "later")}),
			},
			{Name: "unreachable", Kind: sdk.ErrUnavailable, Options: func(t *testing.T) map[string]any {
				l, err := net.Listen("tcp", "127.0.0.1:0")
				if err != nil {
					t.Fatal(err)
				}
				l.Close()
				return map[string]any{"host": "127.0.0.1", "port": l.Addr().(*net.TCPAddr).Port, "from": "a@b", "to": "c@d"}
			}},
		},
		Invalid: []triggertest.Invalid{
			{Field: "from", Set: map[string]any{"from": "no-address"}},
			{Field: "from", Set: map[string]any{"from": "a@b\r\nBcc: c@d"}},
			{Field: "to", Set: map[string]any{"to": "no-address"}},
			{Field: "to", Set: map[string]any{"to": "a@b, no-address"}},
			{Field: "tls.cafile", Set: map[string]any{"tls.cafile": "nosuchfile"}},
			{Field: "tls.keyfile", Set: map[string]any{"tls.certfile": "nosuchfile"}},
			{Field: "tls.minversion", Set: map[string]any{"tls.minversion": "1.4"}},
		},
	})
}

// deliver sends one request and returns what the server got.
func deliver(t *testing.T, s *server, set map[string]any, req trigger.Request) (received, error) {
	t.Helper()
	all := options(s)
	maps.Copy(all, set)
	instance, err := Type().New(sdk.Env{Instance: "trigger.smtp.main", UserAgent: "dogwatch/test"}, all)
	if err != nil {
		t.Fatal(err)
	}
	err = instance.Run(t.Context(), req)
	select {
	case got := <-s.mails:
		return got, err
	default:
		return received{}, err
	}
}

var dateLine = regexp.MustCompile(`(?m)^Date: .*\r$`)

func TestMails(t *testing.T) {
	s := start(t, &server{})
	for name, req := range golden.Requests() {
		t.Run(name, func(t *testing.T) {
			got, err := deliver(t, s, nil, req)
			if err != nil {
				t.Fatal(err)
			}
			for line := range strings.Lines(got.text) {
				if !strings.HasSuffix(line, "\r\n") || len(line) > 998 {
					t.Errorf("a line that mail does not allow: %q", line)
				}
			}
			m, err := mail.ReadMessage(strings.NewReader(got.text))
			if err != nil {
				t.Fatal(err)
			}
			if _, err := m.Header.Date(); err != nil {
				t.Error(err)
			}
			checkText(t, m, req)
			text := dateLine.ReplaceAllString(got.text, "Date: now\r")
			if name == "long" {
				text = text[:2000] + "…"
			}
			golden.Check(t, name+".eml", strings.ReplaceAll(text, "\r\n", "\n"))
		})
	}
}

func TestHeadersCannotBeInjected(t *testing.T) {
	s := start(t, &server{})
	req := triggertest.Request("nginx")
	req.Title = "Update\r\nBcc: evil@example.org\r\n\r\nhello\n.\n"
	req.Body = ".\r\n.\r\nMAIL FROM:<evil@example.org>\r\n"
	req.Delivery = "x\r\nBcc: evil@example.org"
	got, err := deliver(t, s, map[string]any{"from.name": "A\r\nBcc: evil@example.org"}, req)
	if err != nil {
		t.Fatal(err)
	}
	m, err := mail.ReadMessage(strings.NewReader(got.text))
	if err != nil {
		t.Fatal(err)
	}
	want := []string{"Auto-Submitted", "Content-Transfer-Encoding", "Content-Type", "Date", "From", "Message-Id",
		"Mime-Version", "Subject", "To", "User-Agent", "X-Mailer"}
	if names := slices.Sorted(maps.Keys(m.Header)); !slices.Equal(names, want) {
		t.Errorf("headers %v", names)
	}
	if !slices.Equal(got.to, []string{"ops@example.org"}) || got.from != "dogwatch@example.org" || len(s.mails) > 0 {
		t.Errorf("%+v", got)
	}
	checkText(t, m, req)
}

func TestAddresses(t *testing.T) {
	s := start(t, &server{})
	tests := []struct {
		set      map[string]any
		fromLine string
		from     string
		to       []string
		utf8     bool
	}{
		{nil, `"Dogwatch" <dogwatch@example.org>`, "dogwatch@example.org", []string{"ops@example.org"}, false},
		{map[string]any{"from": "a@localhost"}, "<a@localhost>", "a@localhost", []string{"ops@example.org"}, false},
		{map[string]any{"from": nil, "from.address": "a@b.internal", "from.name": "Ünal"},
			"=?utf-8?q?=C3=9Cnal?= <a@b.internal>", "a@b.internal", []string{"ops@example.org"}, false},
		{map[string]any{"to": "a@b, C <c@d.customtld>", "allowcustomtld": true}, `"Dogwatch" <dogwatch@example.org>`,
			"dogwatch@example.org", []string{"a@b", "c@d.customtld"}, false},
		{map[string]any{"to": "jürgen@example.org"}, `"Dogwatch" <dogwatch@example.org>`, "dogwatch@example.org",
			[]string{"jürgen@example.org"}, true},
	}
	for _, test := range tests {
		got, err := deliver(t, s, test.set, triggertest.Request("nginx"))
		if err != nil {
			t.Errorf("%v: %v", test.set, err)
			continue
		}
		m, err := mail.ReadMessage(strings.NewReader(got.text))
		if err != nil {
			t.Fatal(err)
		}
		if m.Header.Get("From") != test.fromLine || got.from != test.from || !slices.Equal(got.to, test.to) ||
			got.utf8 != test.utf8 {
			t.Errorf("%v: From %s, %+v", test.set, m.Header.Get("From"), got)
		}
	}
}

func TestMessageIDIsTheIdempotencyKey(t *testing.T) {
	s := start(t, &server{})
	id := func(delivery string) string {
		req := triggertest.Request("nginx")
		req.Delivery = delivery
		got, err := deliver(t, s, nil, req)
		if err != nil {
			t.Fatal(err)
		}
		m, err := mail.ReadMessage(strings.NewReader(got.text))
		if err != nil {
			t.Fatal(err)
		}
		return m.Header.Get("Message-Id")
	}
	first, again, other, none, none2 := id("1"), id("1"), id("2"), id(""), id("")
	if first != again || first == other || none == none2 || !strings.HasSuffix(first, "@example.org>") {
		t.Error(first, again, other, none, none2)
	}
}

func TestEncryption(t *testing.T) {
	plain := start(t, &server{})
	offering := start(t, &server{startTLS: true})
	implicit := start(t, &server{implicit: true})
	mutual := start(t, &server{
		startTLS: true, change: func(g *gosmtp.Server) { g.TLSConfig.ClientAuth = tls.RequireAnyClientCert },
	})
	mutualImplicit := start(t, &server{
		implicit: true, change: func(g *gosmtp.Server) { g.TLSConfig.ClientAuth = tls.RequireAnyClientCert },
	})
	outdated := start(t, &server{
		startTLS: true, change: func(g *gosmtp.Server) { g.TLSConfig.MaxVersion = tls.VersionTLS12 },
	})
	trusting := func(s *server, set map[string]any) map[string]any {
		all := map[string]any{"tls.cafile": s.own.CertFile}
		maps.Copy(all, set)
		return all
	}
	tests := []struct {
		name  string
		s     *server
		set   map[string]any
		tls   bool
		field string // of the error; "" for success
	}{
		{"none offered", plain, nil, false, ""},
		{"offered", offering, trusting(offering, nil), true, ""},
		{"required", offering, trusting(offering, map[string]any{"starttls": "require"}), true, ""},
		{"off", offering, map[string]any{"starttls": "off"}, false, ""},
		{"not verified", offering, map[string]any{"tls.verify": "false"}, true, ""},
		{"from the start", implicit, trusting(implicit, map[string]any{"tls.enabled": true}), true, ""},
		{"from the start, not verified", implicit, map[string]any{"tls.enabled": true, "tls.verify": false}, true, ""},
		{"client certificate", mutual,
			trusting(mutual, map[string]any{"tls.certfile": mutual.own.CertFile, "tls.keyfile": mutual.own.KeyFile}), true, ""},
		{"client certificate missing", mutual, trusting(mutual, nil), false, "tls.certfile"},
		{"client certificate missing from the start", mutualImplicit,
			trusting(mutualImplicit, map[string]any{"tls.enabled": true}), false, "tls.certfile"},
		{"old version", outdated, trusting(outdated, nil), true, ""},
		{"version too old", outdated, trusting(outdated, map[string]any{"tls.minversion": "1.3"}), false, "tls.certfile"},
		{"required but not offered", plain, map[string]any{"starttls": "require"}, false, "starttls"},
		{"unknown authority", offering, nil, false, "tls.cafile"},
		{"unknown authority from the start", implicit, map[string]any{"tls.enabled": true}, false, "tls.cafile"},
		{"other name", offering, trusting(offering, map[string]any{"host": "localhost"}), false, "host"},
		{"no TLS", plain, map[string]any{"tls.enabled": true}, false, "tls.enabled"},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			got, err := deliver(t, test.s, test.set, triggertest.Request("nginx"))
			var invalid *sdk.InvalidError
			switch {
			case test.field == "" && (err != nil || got.tls != test.tls):
				t.Errorf("%v, encrypted %v", err, got.tls)
			case test.field != "" && (!errors.As(err, &invalid) || invalid.Fields[0].Field != test.field):
				t.Errorf("%v, want an InvalidError about %s", err, test.field)
			}
		})
	}
}

func TestLoginMechanisms(t *testing.T) {
	for _, mechanisms := range [][]string{{"PLAIN"}, {"LOGIN"}, {"LOGIN", "PLAIN", "XOAUTH2"}} {
		got, err := deliver(t, start(t, &server{mechanisms: mechanisms}), nil, triggertest.Request("nginx"))
		if err != nil || got.user != account {
			t.Errorf("%v: %+v, %v", mechanisms, got, err)
		}
	}
	var invalid *sdk.InvalidError
	for name, s := range map[string]*server{"no login": {}, "other login": {mechanisms: []string{"GSSAPI"}}} {
		_, err := deliver(t, start(t, s), map[string]any{"user": "u", "pass": "p"}, triggertest.Request("nginx"))
		if !errors.As(err, &invalid) || invalid.Fields[0].Field != "user" {
			t.Errorf("%s: %v", name, err)
		}
	}
	_, err := deliver(t, start(t, &server{mechanisms: []string{"PLAIN"}}), map[string]any{"pass": "wr0ng-s3cret"},
		triggertest.Request("nginx"))
	if !errors.Is(err, sdk.ErrUnauthorized) || strings.Contains(err.Error(), "s3cret") ||
		!strings.Contains(err.Error(), "with ***") {
		t.Errorf("wrong password: %v", err)
	}
}

// Over a network the password needs encryption, or the operator's word.
func TestPasswordIsNotInErrors(t *testing.T) {
	s := start(t, &server{mechanisms: []string{"PLAIN", "LOGIN"}})
	conn, err := net.Dial("tcp", net.JoinHostPort(s.host, strconv.Itoa(s.port)))
	if err != nil {
		t.Fatal(err)
	}
	instance, err := New(sdk.Env{}, Options{
		Host: s.host, Port: s.port, User: account, Pass: password, From: "a@b", To: "c@d", StartTLS: startTLSAuto,
	})
	if err != nil {
		t.Fatal(err)
	}
	sender := instance
	client, err := sender.greet(t.Context(), conn)
	if err != nil {
		t.Fatal(err)
	}
	defer client.Close()
	far := &net.TCPAddr{IP: net.IPv4(192, 0, 2, 1), Port: 25}
	var invalid *sdk.InvalidError
	if err := sender.logIn(t.Context(), client, far); !errors.As(err, &invalid) || invalid.Fields[0].Field != "pass" ||
		!strings.Contains(err.Error(), "starttls") {
		t.Errorf("%v, want an InvalidError about pass", err)
	}
	sender.startTLS = startTLSOff
	if err := sender.logIn(t.Context(), client, far); err != nil {
		t.Errorf("with starttls off: %v", err)
	}
}

func TestSeveralRecipients(t *testing.T) {
	to := map[string]any{"to": "good@example.org, bad@example.org, fine@example.org"}
	got, err := deliver(t, start(t, &server{onRcpt: rejectOne("bad@example.org", 550)}), to, triggertest.Request("nginx"))
	var invalid *sdk.InvalidError
	if !slices.Equal(got.to, []string{"good@example.org", "fine@example.org"}) || !errors.As(err, &invalid) ||
		!strings.Contains(err.Error(), "bad@example.org") {
		t.Errorf("refused for good: %v, %v", got.to, err)
	}
	got, err = deliver(t, start(t, &server{onRcpt: rejectOne("bad@example.org", 451)}), to, triggertest.Request("nginx"))
	if got.to != nil || !errors.Is(err, sdk.ErrUnavailable) {
		t.Errorf("refused for now: %v, %v", got.to, err)
	}
}

func TestProtocolErrors(t *testing.T) {
	endless := strings.Repeat("250-"+strings.Repeat("x", 1000)+"\r\n", 2000)
	tests := []struct {
		name, greeting, response, want string
	}{
		{"says nothing", "", "", "no answer in time"},
		{"is busy", "421 busy\r\n", "", "421"},
		{"is closed", "554 go away\r\n", "", "554"},
		{"is no mail server", "HTTP/1.1 400 Bad Request\r\n\r\n", "", "greeting"},
		{"talks for ever", "220 hello\r\n", endless, "longer than"},
		{"speaks in colours", "421 \x1b[31mred\x00\r\n", "", "red"},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			s := &server{host: "127.0.0.1", port: sink.Script(t, test.greeting, test.response, func() {}).Port}
			set := map[string]any{}
			if test.want == "no answer in time" {
				set["timeout"] = "50ms"
			}
			_, err := deliver(t, s, set, triggertest.Request("nginx"))
			if err == nil || !strings.Contains(err.Error(), test.want) || strings.Contains(err.Error(), "\x1b") {
				t.Errorf("%v, want %q", err, test.want)
			}
			if test.name != "is closed" && !errors.Is(err, sdk.ErrUnavailable) {
				t.Errorf("%v is not ErrUnavailable", err)
			}
		})
	}
}

func TestSizeLimit(t *testing.T) {
	s := start(t, &server{change: func(g *gosmtp.Server) { g.MaxMessageBytes = 1000 }})
	req := triggertest.Request("nginx")
	req.Body = strings.Repeat("long ", 1000)
	_, err := deliver(t, s, nil, req)
	var invalid *sdk.InvalidError
	if !errors.As(err, &invalid) {
		t.Errorf("%v, want an InvalidError", err)
	}
}

func TestRunIsCancelled(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	port := sink.Script(t, "", "", cancel).Port
	instance, err := Type().New(sdk.Env{}, options(&server{host: "127.0.0.1", port: port}))
	if err != nil {
		t.Fatal(err)
	}
	if err := instance.Run(ctx, triggertest.Request("nginx")); !errors.Is(err, context.Canceled) || sdk.Retryable(err) {
		t.Errorf("%v, want only context.Canceled", err)
	}
}
