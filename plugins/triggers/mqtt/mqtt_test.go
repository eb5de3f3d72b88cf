package mqtt

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/dogwatch/dogwatch/plugins/triggers/internal/golden"
	"github.com/dogwatch/dogwatch/plugins/triggers/mqtt/mqtttest"
	"github.com/dogwatch/dogwatch/sdk"
	"github.com/dogwatch/dogwatch/sdk/plugintest"
	"github.com/dogwatch/dogwatch/sdk/triggertest"
)

func login(url string) map[string]any {
	return map[string]any{
		"url": url, "user": "ana", "password": "recognisable-password", "hass.enabled": true, "hass.install": "docker.local",
	}
}

func unreachable(t *testing.T) string {
	return strings.Replace(plugintest.Unreachable(t), "http", "mqtt", 1)
}

// hanging returns the address of a server that takes a connection and says nothing.
func hanging(t *testing.T, reached func()) string { return speaking(t, "", reached) }

// speaking returns the address of a server that reads something, sends text and closes the connection, if it sent any.
func speaking(t *testing.T, says string, received func()) string {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	done := make(chan struct{})
	go func() {
		defer close(done)
		for {
			conn, err := l.Accept()
			if err != nil {
				return
			}
			defer conn.Close()
			if _, err := conn.Read(make([]byte, 1024)); err != nil {
				continue
			}
			received()
			if says != "" {
				_, _ = io.WriteString(conn, says)
				conn.Close()
			}
		}
	}()
	t.Cleanup(func() {
		l.Close()
		<-done
	})
	return "mqtt://" + l.Addr().String()
}

func TestConformance(t *testing.T) {
	triggertest.Run(t, Type(), triggertest.Case{
		Options: func(t *testing.T) map[string]any { return login(newFake(t).URL()) },
		Hanging: func(t *testing.T, reached func()) map[string]any { return login(hanging(t, reached)) },
		Failing: []triggertest.Failure{
			{
				Name: "unreachable", Kind: sdk.ErrUnavailable,
				Options: func(t *testing.T) map[string]any { return login(unreachable(t)) },
			},
			{Name: "refused", Kind: sdk.ErrUnauthorized, Options: func(t *testing.T) map[string]any {
				b := newFake(t)
				b.password = "another"
				return login(b.URL())
			}},
			{Name: "no broker", Kind: sdk.ErrUnavailable, Options: func(t *testing.T) map[string]any {
				return login(speaking(t, "HTTP/1.1 400 Bad Request\r\n\r\n", func() {}))
			}},
			{Name: "hangs up", Kind: sdk.ErrUnavailable, Options: func(t *testing.T) map[string]any {
				return login(speaking(t, "\x20", func() {}))
			}},
			{Name: "no web socket", Kind: sdk.ErrUnavailable, Options: func(t *testing.T) map[string]any {
				return login(strings.Replace(plugintest.Responding(t, 200), "http", "ws", 1))
			}},
			{Name: "no TLS", Kind: &sdk.InvalidError{}, Options: func(t *testing.T) map[string]any {
				return login(strings.Replace(plugintest.Responding(t, 200), "http", "mqtts", 1))
			}},
		},
		Invalid: []triggertest.Invalid{
			{Field: "url", Set: map[string]any{"url": "http://127.0.0.1"}},
			{Field: "url", Set: map[string]any{"url": "mqtt:///path"}},
			{Field: "topic", Set: map[string]any{"topic": "wud/#"}},
			{Field: "hass.prefix", Set: map[string]any{"hass.prefix": "home+"}},
			{Field: "user", Set: map[string]any{"user": nil}},
			{Field: "hass.install", Set: map[string]any{"hass.install": "docker"}},
			{Field: "hass.install", Set: map[string]any{"hass.enabled": nil}},
			{Field: "exclude", Set: map[string]any{"exclude": "*"}},
			{Field: "tls.cachain", Set: map[string]any{"url": "mqtts://127.0.0.1", "tls.cachain": "nosuchfile"}},
			{Field: "tls.clientkey", Set: map[string]any{"url": "mqtts://127.0.0.1", "tls.clientcert": "nosuchfile"}},
			{Field: "tls.clientcert", Set: map[string]any{"url": "mqtts://127.0.0.1", "tls.clientkey": "nosuchfile"}},
			{Field: "tls.clientcert", Set: map[string]any{"tls.clientcert": "nosuchfile", "tls.clientkey": "nosuchfile"}},
		},
	})
}

// A password in the address is as secret as one of its own.
func TestAddressErrorsHideCredentials(t *testing.T) {
	for _, at := range []string{unreachable(t), strings.Replace(unreachable(t), "mqtt", "ws", 1)} {
		triggertest.LeaksNothing(t, Type(), map[string]any{
			"url": strings.Replace(at, "://", "://ana:recognisable-password@", 1),
		})
	}
}

func TestStates(t *testing.T) {
	for name, req := range golden.Requests() {
		if name == "long" || name == "event" {
			continue
		}
		var got strings.Builder
		for _, c := range req.Containers {
			fmt.Fprintf(&got, "%s\n%s\n", names{root: "wud/container"}.container(c), state(c, nil, idle))
		}
		golden.Check(t, "state-"+name+".txt", got.String())
	}
	c := triggertest.Container("nginx")
	c.Labels = map[string]string{"traefik.rule": "x", "team": "web"}
	got := string(state(c, []string{"labels_traefik*", "image_id", "link"}, work{busy: true, percent: 40}))
	for text, want := range map[string]bool{
		"labels_traefik_rule": false, `"image_id"`: false, `"link"`: false, `"labels_team":"web"`: true,
		`"link_template"`: false, `"result_link"`: true, `"in_progress":true,"update_percentage":40`: true,
		"check_at": false, `"check_state":"ok"`: true,
	} {
		if strings.Contains(got, text) != want {
			t.Errorf("%s: %v, want %v in %s", text, !want, want, got)
		}
	}
}

func TestRun(t *testing.T) {
	onEach(t, func(t *testing.T, b broker) {
		o := mqtttest.Observe(t, b.URL())
		for qos := range 3 {
			instance := plugintest.Trigger(t, Type(), map[string]any{
				"url": b.URL(), "qos": qos, "topic": fmt.Sprint("qos", qos),
			})
			if err := instance.Run(t.Context(), triggertest.Request("nginx", "my.app")); err != nil {
				t.Fatal(err)
			}
			test := triggertest.Request("test")
			test.Test = true
			if err := instance.Run(t.Context(), test); err != nil {
				t.Fatal(err)
			}
			if err := instance.Run(t.Context(), triggertest.Event()); err != nil {
				t.Fatal(err)
			}
			at := fmt.Sprintf("qos%d/local/", qos)
			o.UntilHas(fmt.Sprintf("qos%d/event", qos), `"event":"watcher.failed","watcher":"local"`)
			o.UntilHas(at+"nginx", `"name":"nginx"`)
			o.UntilHas(at+"my-app", `"name":"my.app"`)
			o.UntilHas(at+"test", `"name":"test"`)
		}
		o.Until("the trials are not kept", func(map[string]string, []string) bool {
			second := mqtttest.Observe(t, b.URL())
			second.Until("what is kept arrives", func(retained map[string]string, _ []string) bool { return len(retained) >= 6 })
			return second.Topics()["qos0/local/test"] == "" && second.Topics()["qos0/event"] == ""
		})
	})
}

func TestAddress(t *testing.T) {
	ca := newAuthority(t)
	certificate := map[string]any{"tls.clientcert": ca.file("client.pem"), "tls.clientkey": ca.file("client.key")}
	for url, test := range map[string]struct {
		set           map[string]any
		host          string
		ws, encrypted bool
		login         string
	}{
		"mqtt://broker":        {host: "broker:1883"},
		"tcp://broker:1":       {host: "broker:1"},
		"MQTTS://broker":       {host: "broker:8883", encrypted: true},
		"tls://[::1]":          {host: "[::1]:8883", encrypted: true},
		"ws://broker/mqtt":     {host: "broker:80", ws: true},
		"wss://broker":         {host: "broker:443", ws: true, encrypted: true},
		"mqtt://ana:pw@broker": {host: "broker:1883", login: "ana:pw"},
		"mqtt://ana:pw@broker:2": {
			host: "broker:2", login: "bob:word", set: map[string]any{"user": "bob", "password": "word"},
		},
		"mqtt://certified": {host: "certified:8883", encrypted: true, set: certificate},
		"ws://certified":   {host: "certified:443", ws: true, encrypted: true, set: certificate},
	} {
		m := configured(t, with(map[string]any{"url": url}, test.set))
		a := m.connection.broker
		if a.url.Host != test.host || a.webSocket != test.ws || (a.tls != nil) != test.encrypted ||
			a.user+":"+a.password != test.login && test.login != "" || a.url.User != nil {
			t.Errorf("%s: got %+v", url, a)
		}
		if test.ws && a.url.Scheme != map[bool]string{false: "ws", true: "wss"}[test.encrypted] {
			t.Errorf("%s: the scheme is %s", url, a.url.Scheme)
		}
	}
	var warned []string
	if _, err := Type().New(sdk.Env{Warn: func(w string) { warned = append(warned, w) }}, map[string]any{
		"url": "mqtt://h", "tls.cachain": "x", "tls.rejectunauthorized": true,
	}); err != nil || len(warned) != 1 || !strings.Contains(warned[0], "tls.cachain") {
		t.Errorf("a file without TLS: %q, %v", warned, err)
	}
}

// configured returns an instance with options and the defaults of the others.
func configured(t *testing.T, options map[string]any) *mqtt {
	t.Helper()
	values, problems, unknown := Type().Options.Resolve(options)
	if len(problems)+len(unknown) > 0 {
		t.Fatal(problems, unknown)
	}
	m, err := Type().New(sdk.Env{UserAgent: "dogwatch/1.2.3"}, values)
	if err != nil {
		t.Fatal(err)
	}
	return m.(*mqtt)
}

var errCertificate = errors.New("about the certificate")

// Each way in which brokers authenticate clients.
func TestBrokerAuthentication(t *testing.T) {
	ca := newAuthority(t)
	passwords := filepath.Join(t.TempDir(), "passwords")
	// The word is "recognisable-password", in mosquitto's form of PBKDF2.
	if err := os.WriteFile(passwords, []byte(hashed("ana", "recognisable-password")), 0o600); err != nil {
		t.Fatal(err)
	}
	tls := "listener PORT 127.0.0.1\ncafile " + ca.file("ca.pem") + "\ncertfile " + ca.file("server.pem") +
		"\nkeyfile " + ca.file("server.key") + "\nallow_anonymous true\n"
	trust := map[string]any{"tls.cachain": ca.file("ca.pem")}
	client := map[string]any{"tls.clientcert": ca.file("client.pem"), "tls.clientkey": ca.file("client.key")}
	// With web sockets only, this broker believes that it listens to nothing.
	beside := "\nlistener 0 " + filepath.Join(shortDir(t), "socket") + "\n"
	var invalid *sdk.InvalidError
	for name, test := range map[string]struct {
		config, scheme string
		set            map[string]any
		want           error
	}{
		"password": {"listener PORT 127.0.0.1\npassword_file " + passwords, "mqtt", map[string]any{
			"user": "ana", "password": "recognisable-password",
		}, nil},
		"wrong password": {"listener PORT 127.0.0.1\npassword_file " + passwords, "mqtt", map[string]any{
			"user": "ana", "password": "recognisable-mistake",
		}, sdk.ErrUnauthorized},
		"TLS":                   {tls, "mqtts", trust, nil},
		"unknown authority":     {tls, "mqtts", nil, invalid},
		"not verified":          {tls, "tls", map[string]any{"tls.rejectunauthorized": "false"}, nil},
		"client certificate":    {tls + "require_certificate true\n", "mqtts", with(trust, client), nil},
		"by the certificate":    {tls + "require_certificate true\n", "mqtt", with(trust, client), nil},
		"no client certificate": {tls + "require_certificate true\n", "mqtts", trust, errCertificate},
		"web socket": {"listener PORT 127.0.0.1\nprotocol websockets\nallow_anonymous true" + beside, "ws",
			nil, nil},
		"encrypted web socket":   {tls + "protocol websockets" + beside, "wss", trust, nil},
		"web socket that is not": {tls, "ws", nil, sdk.ErrUnavailable},
	} {
		t.Run(name, func(t *testing.T) {
			b := mqtttest.Start(t, test.config)
			options := with(map[string]any{"url": fmt.Sprintf("%s://127.0.0.1:%d/mqtt", test.scheme, b.Port)}, test.set)
			triggertest.LeaksNothing(t, Type(), options)
			err := plugintest.Trigger(t, Type(), options).Run(t.Context(), triggertest.Request("nginx"))
			switch {
			case test.want == invalid:
				if !errors.As(err, &invalid) || invalid.Fields[0].Field != "tls.cachain" {
					t.Errorf("got %v", err)
				}
			case test.want == errCertificate:
				// Whether the broker says why or just hangs up is a matter of luck.
				if err == nil || !strings.Contains(err.Error(), "tls.clientcert") {
					t.Errorf("got %v", err)
				}
			case test.want == nil && err != nil, !errors.Is(err, test.want):
				t.Errorf("got %v, want %v", err, test.want)
			}
		})
	}
}

// shortDir makes a folder whose path leaves room for the name of a socket.
func shortDir(t *testing.T) string {
	t.Helper()
	dir, err := os.MkdirTemp("", "dw")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.RemoveAll(dir) })
	return dir
}

// A caller that leaves does not take the connection of others with it.
func TestConnectionIsShared(t *testing.T) {
	m := configured(t, map[string]any{"url": newFake(t).URL(), "clientid": "one"})
	ctx, cancel := context.WithCancel(t.Context())
	first, leave, err := m.connection.use(ctx)
	if err != nil {
		t.Fatal(err)
	}
	second, leaveToo, err := m.connection.use(t.Context())
	if err != nil || first != second {
		t.Fatalf("a second connection, %v", err)
	}
	cancel()
	leave()
	leave()
	if err := second.publish(t.Context(), []message{{"a", []byte("b")}}, false); err != nil {
		t.Error(err)
	}
	leaveToo()
	if m.connection.current != nil {
		t.Error("the connection stays open when it is not used")
	}
}
