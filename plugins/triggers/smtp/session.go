package smtp

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"net"
	"slices"
	"strconv"
	"strings"

	gomail "github.com/wneessen/go-mail"
	gosmtp "github.com/wneessen/go-mail/smtp"

	"github.com/dogwatch/dogwatch/sdk"
)

// maxResponses bounds what is read from a server while one mail is sent.
const maxResponses = 1 << 20

// send hands one mail to the server.
func (s *smtp) send(ctx context.Context, m *gomail.Msg) error {
	client, closeConn, err := s.open(ctx)
	if err != nil {
		return err
	}
	defer closeConn()
	if err := s.deliver(ctx, client, m); err != nil {
		return err
	}
	_ = client.Quit() // the mail has been accepted; an error changes nothing
	return nil
}

// open connects and logs in. Without an error the caller calls closeConn; so does the end of ctx.
func (s *smtp) open(ctx context.Context) (client *gosmtp.Client, closeConn func(), err error) {
	conn, err := (&net.Dialer{}).DialContext(ctx, "tcp", net.JoinHostPort(s.host, strconv.Itoa(s.port)))
	if err != nil {
		return nil, nil, s.explain(ctx, "connect", "host", err)
	}
	// Closing the connection ends whatever waits for the server.
	stop := context.AfterFunc(ctx, func() { conn.Close() })
	closeConn = func() {
		stop()
		conn.Close()
	}
	if client, err = s.greet(ctx, &boundedConn{Conn: conn, left: maxResponses}); err == nil {
		err = s.logIn(ctx, client, conn.RemoteAddr())
	}
	if err != nil {
		closeConn()
		return nil, nil, err
	}
	return client, closeConn, nil
}

// greet opens the conversation, encrypted as far as the options and the server want it.
func (s *smtp) greet(ctx context.Context, conn net.Conn) (*gosmtp.Client, error) {
	if s.implicit {
		encrypted := tls.Client(conn, s.tls)
		if err := encrypted.HandshakeContext(ctx); err != nil {
			return nil, s.explain(ctx, "start TLS", "tls.enabled", err)
		}
		conn = encrypted
	}
	client, err := gosmtp.NewClient(conn, s.host)
	if err != nil {
		return nil, s.explain(ctx, "wait for its greeting", "port", err)
	}
	if err := client.Hello(literal(conn.LocalAddr())); err != nil {
		return nil, s.explain(ctx, "greet", "host", err)
	}
	if s.implicit || s.startTLS == startTLSOff {
		return client, nil
	}
	offered, _ := client.Extension("STARTTLS")
	switch {
	case offered:
		if err := client.StartTLS(s.tls); err != nil {
			return nil, s.explain(ctx, "start TLS", "starttls", err)
		}
	case s.startTLS == startTLSRequire:
		return nil, sdk.Invalid("starttls", "%s does not offer it; use tls.enabled, another port, or auto", s.server())
	}
	return client, nil
}

// logIn authenticates when there are credentials.
func (s *smtp) logIn(ctx context.Context, client *gosmtp.Client, server net.Addr) error {
	if s.user == "" && s.pass == "" {
		return nil
	}
	_, encrypted := client.TLSConnectionState()
	auth, err := s.mechanism(client, encrypted || loopback(server) || s.startTLS == startTLSOff)
	if err != nil {
		return err
	}
	if err := client.Auth(auth); err != nil {
		return s.explain(ctx, "log in", "user", err)
	}
	return nil
}

// mechanism picks how to log in among what the server offers. The password
// itself is only sent over an encrypted connection, or where the operator allows it.
func (s *smtp) mechanism(client *gosmtp.Client, open bool) (gosmtp.Auth, error) {
	_, parameter := client.Extension("AUTH")
	offered := strings.Fields(strings.ToUpper(parameter))
	mechanisms := []struct {
		name string
		open bool // sends the password in readable form
		auth gosmtp.Auth
	}{
		{"SCRAM-SHA-256", false, gosmtp.ScramSHA256Auth(s.user, s.pass)},
		{"SCRAM-SHA-1", false, gosmtp.ScramSHA1Auth(s.user, s.pass)},
		{"PLAIN", true, gosmtp.PlainAuth("", s.user, s.pass, s.host, true)},
		{"LOGIN", true, gosmtp.LoginAuth(s.user, s.pass, s.host, true)},
		{"CRAM-MD5", false, gosmtp.CRAMMD5Auth(s.user, s.pass)},
	}
	refused := false
	for _, m := range mechanisms {
		if !slices.Contains(offered, m.name) {
			continue
		}
		if !m.open || open {
			return m.auth, nil
		}
		refused = true
	}
	switch {
	case refused:
		return nil,
			sdk.Invalid("pass",
				"is not sent to %s without encryption; use tls.enabled or a port with STARTTLS, or set starttls to off to send it readably", s.server())
	case len(offered) == 0:
		return nil,
			sdk.Invalid("user",
				"%s offers no login on this port; remove user and pass, or use the submission port (587 or 465)", s.server())
	}
	return nil,
		sdk.Invalid("user",
			"%s offers none of the logins that are supported: SCRAM-SHA-256, SCRAM-SHA-1, PLAIN, LOGIN, CRAM-MD5", s.server())
}

// deliver sends the mail. When a recipient is refused for now, no recipient gets it
// yet, so that another try repeats nothing; when one is refused for good, the others do.
func (s *smtp) deliver(ctx context.Context, client *gosmtp.Client, m *gomail.Msg) error {
	client.SkipSMTPUTF8(ascii(s.from.Address))
	for _, to := range s.to {
		if !ascii(to.Address) {
			client.SkipSMTPUTF8(false)
		}
	}
	if err := client.Mail("<" + s.from.Address + ">"); err != nil {
		return s.explain(ctx, "name the sender", "from", err)
	}
	refused := &sdk.InvalidError{}
	for _, to := range s.to {
		err := client.Rcpt("<" + to.Address + ">")
		if err == nil {
			continue
		}
		err = s.explain(ctx, "name the recipient "+to.Address, "to", err)
		var invalid *sdk.InvalidError
		if !errors.As(err, &invalid) {
			return err
		}
		refused.Fields = append(refused.Fields, invalid.Fields...)
	}
	if len(refused.Fields) == len(s.to) {
		return refused
	}
	if err := s.data(client, m); err != nil {
		return s.explain(ctx, "send the mail", "", err)
	}
	if len(refused.Fields) > 0 {
		return refused
	}
	return nil
}

func (s *smtp) data(client *gosmtp.Client, m *gomail.Msg) error {
	w, err := client.Data()
	if err != nil {
		return err
	}
	if _, err := m.WriteTo(w); err != nil {
		return err
	}
	return w.Close()
}

func (s *smtp) server() string { return net.JoinHostPort(s.host, strconv.Itoa(s.port)) }

// literal is how a client without a name introduces itself: RFC 5321 section 4.1.3.
func literal(a net.Addr) string {
	tcp, ok := a.(*net.TCPAddr)
	switch {
	case !ok:
		return "localhost"
	case tcp.IP.To4() != nil:
		return "[" + tcp.IP.String() + "]"
	}
	return "[IPv6:" + tcp.IP.String() + "]"
}

func loopback(a net.Addr) bool {
	tcp, ok := a.(*net.TCPAddr)
	return ok && tcp.IP.IsLoopback()
}

func ascii(text string) bool {
	return !strings.ContainsFunc(text, func(c rune) bool { return c >= 0x80 })
}

// boundedConn is a connection on which the other side cannot talk for ever.
type boundedConn struct {
	net.Conn
	left int
}

var errTalksTooMuch = fmt.Errorf("its answers are longer than %d bytes", maxResponses)

func (c *boundedConn) Read(p []byte) (int, error) {
	if c.left <= 0 {
		return 0, errTalksTooMuch
	}
	n, err := c.Conn.Read(p[:min(len(p), c.left)])
	c.left -= n
	return n, err
}
