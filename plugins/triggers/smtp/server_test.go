package smtp

import (
	"crypto/tls"
	"errors"
	"io"
	"log"
	"net"
	"strings"
	"sync"
	"testing"

	"github.com/emersion/go-sasl"
	gosmtp "github.com/emersion/go-smtp"

	"github.com/dogwatch/dogwatch/plugins/triggers/internal/sink"
)

// The only account of the test servers.
const (
	account  = "ana"
	password = "recognisable-pass"
)

// server is a real mail server that keeps what it receives.
type server struct {
	host string
	port int
	own  *sink.Identity

	mechanisms  []string                                               // what it offers; with any, a login is required
	onRcpt      func(to string) error                                  // decides on recipients
	onData      func(text string) error                                // decides on mails
	onMail      func(from string) error                                // decides on senders
	onLogin     func(pass string) error                                // decides on logins
	onChallenge func(mechanism string, accept func()) *challengeServer // serves other logins than PLAIN and LOGIN
	change      func(*gosmtp.Server)                                   // changes the server before it starts
	implicit    bool                                                   // TLS from the start
	startTLS    bool                                                   // offers STARTTLS
	mails       chan received                                          // what has arrived
}

// received is one mail.
type received struct {
	from string
	to   []string
	text string
	user string
	utf8 bool
	tls  bool
}

// start runs the server until the end of the test.
func start(t *testing.T, s *server) *server {
	t.Helper()
	s.mails = make(chan received, 100)
	s.own = sink.Identify(t)
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	s.host, s.port = "127.0.0.1", l.Addr().(*net.TCPAddr).Port
	g := gosmtp.NewServer(gosmtp.BackendFunc(func(c *gosmtp.Conn) (gosmtp.Session, error) {
		if len(s.mechanisms) > 0 {
			return &authSession{session{server: s, conn: c}}, nil
		}
		return &session{server: s, conn: c}, nil
	}))
	g.Domain, g.AllowInsecureAuth, g.EnableSMTPUTF8 = "test", true, true
	g.ErrorLog = log.New(io.Discard, "", 0)
	if s.startTLS || s.implicit {
		g.TLSConfig = &tls.Config{Certificates: []tls.Certificate{s.own.Certificate}}
	}
	if s.change != nil {
		s.change(g)
	}
	if s.implicit {
		l = tls.NewListener(l, g.TLSConfig)
	}
	var served sync.WaitGroup
	served.Go(func() {
		if err := g.Serve(l); err != nil && !errors.Is(err, gosmtp.ErrServerClosed) {
			t.Error(err)
		}
	})
	t.Cleanup(func() { g.Close(); served.Wait() })
	return s
}

// session is one conversation.
type session struct {
	server *server
	conn   *gosmtp.Conn
	mail   received
}

func (s *session) Reset()        { s.mail = received{user: s.mail.user} }
func (s *session) Logout() error { return nil }

func (s *session) Mail(from string, options *gosmtp.MailOptions) error {
	if len(s.server.mechanisms) > 0 && s.mail.user == "" {
		return &gosmtp.SMTPError{Code: 530, EnhancedCode: gosmtp.EnhancedCode{5, 7, 0}, Message: "Log in first"}
	}
	s.mail.from, s.mail.utf8 = from, options.UTF8
	return decide(s.server.onMail, from)
}

func (s *session) Rcpt(to string, _ *gosmtp.RcptOptions) error {
	if err := decide(s.server.onRcpt, to); err != nil {
		return err
	}
	s.mail.to = append(s.mail.to, to)
	return nil
}

func (s *session) Data(r io.Reader) error {
	text, err := io.ReadAll(r)
	if err != nil {
		return err
	}
	s.mail.text = string(text)
	_, s.mail.tls = s.conn.TLSConnectionState()
	if err := decide(s.server.onData, s.mail.text); err != nil {
		return err
	}
	s.server.mails <- s.mail
	return nil
}

func decide(on func(string) error, what string) error {
	if on == nil {
		return nil
	}
	return on(what)
}

// authSession is a session with logins.
type authSession struct{ session }

func (s *authSession) AuthMechanisms() []string { return s.server.mechanisms }

func (s *authSession) Auth(mechanism string) (sasl.Server, error) {
	check := func(user, pass string) error {
		if err := decide(s.server.onLogin, pass); err != nil {
			return err
		}
		if user != account || pass != password {
			// A server that says too much.
			return &gosmtp.SMTPError{
				Code: 535, EnhancedCode: gosmtp.EnhancedCode{5, 7, 8}, Message: "No login for " + user + " with " + pass,
			}
		}
		s.mail.user = user
		return nil
	}
	if s.server.onChallenge != nil {
		return s.server.onChallenge(mechanism, func() { s.mail.user = account }), nil
	}
	if mechanism == sasl.Login {
		return &loginServer{check: check}, nil
	}
	return sasl.NewPlainServer(func(_, user, pass string) error { return check(user, pass) }), nil
}

// loginServer is the server's side of LOGIN, draft-murchison-sasl-login.
type loginServer struct {
	check func(user, pass string) error
	given []string
}

func (l *loginServer) Next(response []byte) ([]byte, bool, error) {
	if response != nil {
		l.given = append(l.given, string(response))
	}
	switch len(l.given) {
	case 0:
		return []byte("Username:"), false, nil
	case 1:
		return []byte("Password:"), false, nil
	}
	return nil, true, l.check(l.given[0], l.given[1])
}

func reject(code int, text string) func(string) error {
	return func(string) error { return &gosmtp.SMTPError{Code: code, Message: text} }
}

func rejectOne(address string, code int) func(string) error {
	return func(to string) error {
		if strings.EqualFold(to, address) {
			return &gosmtp.SMTPError{Code: code, Message: "not now or never"}
		}
		return nil
	}
}
