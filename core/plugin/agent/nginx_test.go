package agent

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"crypto/x509/pkix"
	"fmt"
	"math/big"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/dogwatch/dogwatch/sdk/plugintest"
)

// TestLinkThroughNginx that ends TLS, with a certificate that nobody knows: the link passes it, and comes back after it
// was down.
func TestLinkThroughNginx(t *testing.T) {
	program, err := exec.LookPath("nginx")
	if err != nil {
		plugintest.Skip(t, "nginx", err)
	}
	s := newSite(t)
	dir := t.TempDir()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	must(t, err)
	template := &x509.Certificate{
		SerialNumber: big.NewInt(1), Subject: pkix.Name{CommonName: "nas.test"}, NotAfter: time.Now().Add(time.Hour),
	}
	der, err := x509.CreateCertificate(rand.Reader, template, template, key.Public(), key)
	must(t, err)
	text, err := encodeKey(key)
	must(t, err)
	must(t, os.WriteFile(filepath.Join(dir, "pair.pem"), append(text, encodeCertificate(der)...), 0o600))
	free, err := net.Listen("tcp", "127.0.0.1:0")
	must(t, err)
	address := free.Addr().String()
	must(t, free.Close())
	temp := ""
	for _, what := range []string{"client_body", "proxy", "fastcgi", "uwsgi", "scgi"} {
		temp += fmt.Sprintf("%s_temp_path %s/%[1]s;", what, dir)
	}
	must(t, os.WriteFile(filepath.Join(dir, "nginx.conf"), fmt.Appendf(nil, `
		daemon off; pid %[1]s/pid; error_log %[1]s/log; events {}
		http { access_log off; %[2]s
			server {
				listen %[3]s ssl; ssl_certificate %[1]s/pair.pem; ssl_certificate_key %[1]s/pair.pem;
				location / {
					proxy_pass %[4]s; proxy_http_version 1.1; proxy_set_header Host $host;
					proxy_set_header Upgrade $http_upgrade; proxy_set_header Connection "upgrade";
				}
			}
		}`, dir, temp, address, s.url), 0o600))
	run := func() (stop func()) {
		cmd := exec.Command(program, "-c", filepath.Join(dir, "nginx.conf"), "-e", filepath.Join(dir, "log"))
		must(t, cmd.Start())
		stop = func() {
			_ = cmd.Process.Signal(os.Interrupt)
			_ = cmd.Wait()
		}
		eventually(t, "start nginx", func() error {
			conn, err := net.Dial("tcp", address)
			if err == nil {
				conn.Close()
			}
			return err
		})
		return stop
	}
	stop := run()
	t.Cleanup(func() { stop() })
	folder := t.TempDir()
	i, err := s.joinAs(t, JoinOptions{Dir: folder, URL: "https://" + address})
	must(t, err)
	if !strings.HasPrefix(i.URL, "https://") {
		t.Errorf("it has joined %s", i.URL)
	}
	s.host(t, folder, newEngine())
	s.lists(t, "nas")
	stop()
	eventually(t, "notice that nginx is gone", func() error {
		if s.Agents()[0].Connected {
			return fmt.Errorf("still connected")
		}
		return nil
	})
	stop = run()
	s.lists(t, "nas")
}
