package agent

import (
	"bytes"
	"crypto/tls"
	"encoding/json"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
	"time"
)

func TestJoin(t *testing.T) {
	s := newSite(t)
	text, expires, err := s.NewToken(t.Context(), "", "ana")
	must(t, err)
	if left := expires.Sub(s.clock.now()); left > tokenLife || left < tokenLife-time.Minute {
		t.Errorf("the token lives for %s", left)
	}
	dir := t.TempDir()
	i, err := s.joinAs(t, JoinOptions{Dir: dir, Token: text, Name: "nas"})
	must(t, err)
	kept, err := LoadIdentity(dir)
	if err != nil || !reflect.DeepEqual(kept, i) || i.Name != "nas" || i.URL != s.url || i.Token != "" {
		t.Errorf("%+v, %v; returned was %+v", kept, err, i)
	}
	if left := i.expires().Sub(s.clock.now()); left > certificateLife || left < certificateLife-time.Hour {
		t.Errorf("the certificate is valid for %s", left)
	}
	files, err := os.ReadDir(dir)
	must(t, err)
	for _, f := range files {
		if info, err := f.Info(); err != nil || info.Mode().Perm() != 0o600 || f.Name() != identityFile {
			t.Errorf("%s has mode %s, %v", f.Name(), info.Mode(), err)
		}
	}
	secret := strings.Split(text, ".")[1]
	for what, where := range map[string]string{"the log": s.log.String(), "the identity": i.Key + i.Certificate + i.URL} {
		if strings.Contains(where, secret) {
			t.Errorf("%s has the secret of the token", what)
		}
	}
	if all := s.Agents(); len(all) != 1 || all[0].Name != "nas" || all[0].Connected {
		t.Errorf("%+v", all)
	}
}

func TestJoinIsRefused(t *testing.T) {
	s, other := newSite(t), newSite(t)
	used, _, err := s.NewToken(t.Context(), "", "ana")
	must(t, err)
	_, err = s.joinAs(t, JoinOptions{Token: used, Name: "first"})
	must(t, err)
	foreign, _, err := other.NewToken(t.Context(), "", "ana")
	must(t, err)
	unknown := newToken(s.ca(t).Fingerprint()).Text()
	old, _, err := s.NewToken(t.Context(), "", "ana")
	must(t, err)
	s.store.tokens[mustToken(t, old).ID()] = func() Wanted {
		w := s.store.tokens[mustToken(t, old).ID()]
		w.Expires = s.clock.now().Add(-time.Second)
		return w
	}()
	parts := strings.Split(used, ".")
	for what, c := range map[string]struct {
		opt  JoinOptions
		want string
	}{
		"reused":             {JoinOptions{Token: used}, "was used already"},
		"expired":            {JoinOptions{Token: old}, "has expired"},
		"unknown":            {JoinOptions{Token: unknown}, "knows no such token"},
		"of another one":     {JoinOptions{Token: foreign}, "the token is of another Dogwatch"},
		"another secret":     {JoinOptions{Token: parts[0] + "." + strings.Repeat("A", 22) + "." + parts[2]}, "knows no such token"},
		"no token":           {JoinOptions{Token: "hunter2"}, "no token of an agent"},
		"a wrong name":       {JoinOptions{Name: "My NAS"}, "choose one with --name"},
		"a watcher's name":   {JoinOptions{Name: "local"}, "another watcher has this name"},
		"no address":         {JoinOptions{URL: "dogwatch"}, "want the address"},
		"another scheme":     {JoinOptions{URL: "ftp://dogwatch"}, "got ftp://"},
		"another path":       {JoinOptions{URL: s.url + "/else"}, "answered 404"},
		"nobody there":       {JoinOptions{URL: "http://127.0.0.1:1"}, "connection refused"},
		"a clock a year off": {JoinOptions{Now: func() time.Time { return time.Now().AddDate(-1, 0, 0) }}, "set the clock"},
	} {
		t.Run(what, func(t *testing.T) {
			dir := t.TempDir()
			c.opt.Dir = dir
			_, err := s.joinAs(t, c.opt)
			wants(t, what, err, c.want)
			if _, err := LoadIdentity(dir); err != ErrNotJoined {
				t.Errorf("an identity is there: %v", err)
			}
		})
	}
	if all := s.Agents(); len(all) != 1 {
		t.Errorf("%+v", all)
	}
}

func mustToken(t *testing.T, text string) Token {
	token, err := ParseToken(text)
	must(t, err)
	return token
}

// TestJoinAgain after the answer was lost: the same token works for the same key, and for no other.
func TestJoinAgain(t *testing.T) {
	s := newSite(t)
	text, _, err := s.NewToken(t.Context(), "", "ana")
	must(t, err)
	dir := t.TempDir()
	i, err := joining(JoinOptions{Dir: dir, URL: s.url, Name: "nas"}, mustToken(t, text))
	must(t, err)
	request, err := i.request()
	must(t, err)
	var authority []byte
	token := mustToken(t, text)
	_, err = exchange(t.Context(), dial, s.url, joiningTLS(token.fingerprint, time.Now, &authority), // its answer is lost
		hello{Version: "1.4.0", Token: token.ID(), Secret: token.secret, Name: "nas", Request: request})
	must(t, err)
	_, err = s.joinAs(t, JoinOptions{Token: text})
	wants(t, "a thief", err, "was used already")
	again, err := s.joinAs(t, JoinOptions{Dir: dir, Token: text})
	if err != nil || again.Key != i.Key {
		t.Errorf("the same agent: %v", err)
	}
}

func TestTokenOfNameReplaces(t *testing.T) {
	s := newSite(t)
	old := s.join(t, "nas")
	s.host(t, old, newEngine())
	s.lists(t, "nas")
	text, _, err := s.NewToken(t.Context(), "nas", "ana")
	must(t, err)
	_, err = s.joinAs(t, JoinOptions{Token: text, Name: "other"})
	must(t, err)
	if all := s.Agents(); len(all) != 1 || all[0].Name != "nas" || all[0].Connected {
		t.Errorf("%+v", all)
	}
	for _, name := range []string{"local", "A"} {
		if _, _, err := s.NewToken(t.Context(), name, "ana"); err == nil {
			t.Errorf("a token for %q", name)
		}
	}
}

func TestAuthorityIsKept(t *testing.T) {
	path := filepath.Join(t.TempDir(), "agents-ca.pem")
	first, err := OpenAuthority(path, time.Now)
	must(t, err)
	second, err := OpenAuthority(path, time.Now)
	if err != nil || first.Fingerprint() != second.Fingerprint() {
		t.Errorf("another authority, %v", err)
	}
	if info, err := os.Stat(path); err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("mode %s, %v", info.Mode(), err)
	}
	must(t, os.WriteFile(path, []byte("garbage"), 0o600))
	_, err = OpenAuthority(path, time.Now)
	wants(t, "a damaged file", err, "restore the file, or remove it")
}

// TestCertificatesHaveOneUse: an agent's is none of a controller, nor the other way around, and signs nothing.
func TestCertificatesHaveOneUse(t *testing.T) {
	s := newSite(t)
	nas, err := LoadIdentity(s.join(t, "nas"))
	must(t, err)
	pair, err := tls.X509KeyPair([]byte(nas.Certificate), []byte(nas.Key))
	must(t, err)
	pair.Certificate = append(pair.Certificate, s.ca(t).cert.Raw)
	var authority []byte
	config := joiningTLS(s.ca(t).Fingerprint(), time.Now, &authority)
	wants(t, "an agent that plays the controller", handshake(config, &tls.Config{
		Certificates: []tls.Certificate{pair}, NextProtos: []string{protocolJoin},
	}), "certificate")
	own, err := s.ca(t).controllerCertificate()
	must(t, err)
	wants(t, "a controller's certificate as an agent's", handshake(&tls.Config{
		InsecureSkipVerify: true, Certificates: []tls.Certificate{own}, NextProtos: []string{protocolLink},
	}, s.secured(t)), "certificate")
	wants(t, "none", handshake(&tls.Config{InsecureSkipVerify: true, NextProtos: []string{protocolLink}}, s.secured(t)),
		"certificate")
	wants(t, "neither", handshake(&tls.Config{InsecureSkipVerify: true}, s.secured(t)), "what it wants")
}

func FuzzParseToken(f *testing.F) {
	f.Add(newToken([32]byte{1}).Text())
	f.Add("a.b.c")
	f.Add("")
	f.Fuzz(func(t *testing.T, text string) {
		token, err := ParseToken(text)
		if err != nil {
			if text != "" && strings.Contains(err.Error(), text) && len(text) > 12 {
				t.Errorf("the error repeats the token: %v", err)
			}
			return
		}
		if token.Text() != strings.TrimSpace(text) {
			t.Errorf("%q is read as %q", text, token.Text())
		}
		if strings.Contains(token.String(), strings.Split(token.Text(), ".")[1]) {
			t.Error("its string has the secret")
		}
	})
}

func FuzzReceive(f *testing.F) {
	var b bytes.Buffer
	must(f, send(&b, hello{Version: "1.2.3", Token: "x", Secret: []byte("y"), Name: "nas"}))
	f.Add(b.Bytes())
	f.Add([]byte{255, 255, 255, 255})
	f.Fuzz(func(t *testing.T, wire []byte) {
		h, err := receive[hello](bytes.NewReader(wire))
		if err != nil {
			return
		}
		text, err := json.Marshal(h)
		must(t, err)
		if len(text) > maxMessage { // what was left out of it may be shorter when it comes
			return
		}
		var again bytes.Buffer
		must(t, send(&again, h))
		if same, err := receive[hello](&again); err != nil || !reflect.DeepEqual(same, h) {
			t.Errorf("%+v, %v, want %+v", same, err, h)
		}
	})
}
