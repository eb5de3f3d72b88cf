package e2e

import (
	"context"
	"crypto/pbkdf2"
	"crypto/sha512"
	"crypto/tls"
	"encoding/base64"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/emersion/go-sasl"
	"github.com/emersion/go-smtp"
	"github.com/twmb/franz-go/pkg/kfake"
	"github.com/twmb/franz-go/pkg/kgo"
	"github.com/twmb/franz-go/pkg/sasl/plain"

	"github.com/dogwatch/dogwatch/plugins/triggers/mqtt/mqtttest"
)

// localServices starts what triggers talk to in other ways than by HTTP: real
// servers of mail, Kafka and MQTT, a script, and the log. Each asks for a login.
func localServices(t *testing.T, a *authority, r received) []service {
	all := []service{
		command(t, r), kafka(t, a, r), mail(t, a, r),
		{
			typ: "mock", options: map[string]string{"mock": "catalogue"},
			mistake: map[string]string{"threshold": "none"}, blames: "threshold",
		},
	}
	if s, here := broker(t, a, r); here {
		all = append(all, s)
	}
	return all
}

// command is a script that notes its input in a file.
func command(t *testing.T, r received) service {
	t.Helper()
	file := filepath.Join(t.TempDir(), "input")
	must(t, os.WriteFile(file, nil, 0o600))
	r["command"] = func() []string {
		input, err := os.ReadFile(file)
		must(t, err)
		return strings.Split(strings.TrimSpace(string(input)), "\n")
	}
	return service{
		typ: "command", options: map[string]string{"cmd": `echo "$title|$body" | tr '\n' ' ' | sed 's/$/\n/' >>` + file},
		mistake: map[string]string{"shell": "/nowhere/sh"}, blames: "shell",
	}
}

// kafka is a cluster that wants TLS and a login.
func kafka(t *testing.T, a *authority, r received) service {
	t.Helper()
	certificate, err := a.certificate("127.0.0.1")
	must(t, err)
	const topic, user, password = "updates", "ana", marker + "-kafka"
	cluster, err := kfake.NewCluster(kfake.NumBrokers(1), kfake.SeedTopics(1, topic), kfake.EnableSASL(),
		kfake.Superuser("SCRAM-SHA-256", user, password),
		kfake.Superuser("PLAIN", "reader", "reader"), kfake.TLS(&tls.Config{Certificates: []tls.Certificate{*certificate}}))
	must(t, err)
	t.Cleanup(cluster.Close)
	box := &inbox{}
	r["kafka"] = box.all
	consumer, err := kgo.NewClient(kgo.SeedBrokers(cluster.ListenAddrs()...), kgo.ConsumeTopics(topic),
		kgo.ConsumeResetOffset(kgo.NewOffset().AtStart()),
		kgo.DialTLSConfig(&tls.Config{InsecureSkipVerify: true}),
		kgo.SASL(plain.Auth{User: "reader", Pass: "reader"}.AsMechanism()))
	must(t, err)
	ctx, stop := context.WithCancel(context.Background())
	var reading sync.WaitGroup
	reading.Go(func() {
		for ctx.Err() == nil {
			consumer.PollFetches(ctx).EachRecord(func(r *kgo.Record) { box.add(string(r.Value)) })
		}
	})
	t.Cleanup(func() { stop(); reading.Wait(); consumer.Close() })
	return service{
		typ: "kafka", options: map[string]string{
			"brokers": strings.Join(cluster.ListenAddrs(), ","), "topic": topic, "ssl": "true", "tls.cafile": a.file,
			"authentication.type": "SCRAM-SHA-256", "authentication.user": user, "authentication.password": password,
		},
		mistake: map[string]string{"authentication.type": "GUESS"}, blames: "authentication.type",
	}
}

// mail is a server that wants STARTTLS and a login.
func mail(t *testing.T, a *authority, r received) service {
	t.Helper()
	certificate, err := a.certificate("127.0.0.1")
	must(t, err)
	box := &inbox{}
	r["smtp"] = box.all
	server := smtp.NewServer(smtp.BackendFunc(func(*smtp.Conn) (smtp.Session, error) {
		return &postSession{box: box}, nil
	}))
	server.Domain, server.TLSConfig = "localhost", &tls.Config{Certificates: []tls.Certificate{*certificate}}
	l, err := net.Listen("tcp", "127.0.0.1:0")
	must(t, err)
	go func() { _ = server.Serve(l) }() // until Close
	t.Cleanup(func() { server.Close() })
	return service{
		typ: "smtp", options: map[string]string{
			"host": "127.0.0.1", "port": fmt.Sprint(l.Addr().(*net.TCPAddr).Port), "user": "ana",
			"pass": marker + "-smtp", "starttls": "require", "tls.cafile": a.file,
			"from": "Dogwatch <dogwatch@example.org>", "to": "ana@example.org,ben@example.org",
		},
		mistake: map[string]string{"to": "ana at example"}, blames: "to",
	}
}

type postSession struct {
	box  *inbox
	user string
	to   []string
}

func (*postSession) AuthMechanisms() []string { return []string{sasl.Plain} }

func (s *postSession) Auth(string) (sasl.Server, error) {
	return sasl.NewPlainServer(func(_, user, password string) error {
		if user != "ana" || password != marker+"-smtp" {
			return errors.New("wrong login")
		}
		s.user = user
		return nil
	}), nil
}

func (s *postSession) Mail(string, *smtp.MailOptions) error {
	if s.user == "" {
		return errors.New("log in first")
	}
	return nil
}

func (s *postSession) Rcpt(to string, _ *smtp.RcptOptions) error {
	s.to = append(s.to, to)
	return nil
}

func (s *postSession) Reset()      { s.to = nil }
func (*postSession) Logout() error { return nil }

func (s *postSession) Data(r io.Reader) error {
	text, err := io.ReadAll(r)
	s.box.add(strings.Join(s.to, " ") + "\n" + string(text))
	return err
}

// broker is mosquitto, which wants TLS and a login. Without it, mqtt is left out.
func broker(t *testing.T, a *authority, r received) (service, bool) {
	t.Helper()
	if !hasMosquitto() {
		t.Log("mosquitto is not here: mqtt is not part of this")
		return service{}, false
	}
	certificate, key := a.files(t, "127.0.0.1")
	passwords := filepath.Join(t.TempDir(), "passwords")
	salt, rounds := []byte("twelve bytes"), 101
	hash, err := pbkdf2.Key(sha512.New, marker+"-mqtt", salt, rounds, 64)
	must(t, err)
	must(t,
		os.WriteFile(passwords,
			fmt.Appendf(nil, "ana:$7$%d$%s$%s\n", rounds, base64.StdEncoding.EncodeToString(salt),
				base64.StdEncoding.EncodeToString(hash)), 0o600))
	l, err := net.Listen("tcp", "127.0.0.1:0")
	must(t, err)
	secured := l.Addr().String()
	_, port, _ := net.SplitHostPort(secured)
	l.Close()
	m := mqtttest.Start(t,
		fmt.Sprintf("per_listener_settings true\nlistener PORT 127.0.0.1\nallow_anonymous true\nlistener %s 127.0.0.1\nallow_anonymous false\npassword_file %s\ncertfile %s\nkeyfile %s\n",
			port, passwords, certificate, key))
	o := mqtttest.Observe(t, m.URL())
	r["mqtt"] = func() (all []string) {
		o.Until("", func(_ map[string]string, messages []string) bool {
			all = slices.Clone(messages)
			return true
		})
		return all
	}
	return service{
		typ: "mqtt",
		options: map[string]string{
			"url": "mqtts://" + secured, "user": "ana", "password": marker + "-mqtt", "tls.cachain": a.file,
		},
		mistake: map[string]string{"qos": "3"}, blames: "qos",
	}, true
}
