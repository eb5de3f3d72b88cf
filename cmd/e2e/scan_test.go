package e2e

import (
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/dogwatch/dogwatch/core/serve/api"
	"github.com/dogwatch/dogwatch/plugins/registries/registrysim"
	"github.com/dogwatch/dogwatch/plugins/watchers/docker/enginesim"
)

// scannerScript behaves as Trivy does with --exit-code 1: it reports, and fails. What it
// reports of an image is in a file that is called as the image's digest, or in "others". It notes
// what it is started for.
const scannerScript = `#!/bin/sh
cd "$(dirname "$0")" || exit 2
echo "$* $SECRET" >>calls
file=${1##*:}
[ -f "$file" ] || file=others
sed "s|IMAGE|$1|" "$file"
echo "some log" >&2
exit 1
`

// trivyReport writes what Trivy reports of an image: vulnerabilities as "CVE-1 CRITICAL".
func trivyReport(found ...string) string {
	var all []string
	for _, one := range found {
		id, severity, _ := strings.Cut(one, " ")
		all = append(all,
			fmt.Sprintf(`{"VulnerabilityID":%q,"PkgName":"openssl","InstalledVersion":"3.0.1","FixedVersion":"3.0.2","Severity":%q}`, id, severity))
	}
	return `{"SchemaVersion":2,"ArtifactName":"IMAGE","Results":[{"Target":"os","Vulnerabilities":[` +
		strings.Join(all, ",") + `]}]}`
}

// TestSecurityFixIsOfferedAtOnce has the program scan updates that are too young to be
// offered: the one that fixes a critical vulnerability is offered and notified of once, at
// once, the other is held. A kill -9 changes nothing of that, and costs no scan.
func TestSecurityFixIsOfferedAtOnce(t *testing.T) {
	t.Parallel()
	address, messages := ntfyServer(t)
	created := time.Now().Add(-time.Hour)
	f := newFleet(t, 2, registrysim.Options{Created: func(int) time.Time { return created }})
	for i := range 2 {
		f.registry(i).Push(f.repo(i), "1.1.0")
	}
	running := func(i int) string {
		_, digest, _ := strings.Cut(enginesim.Digest(fmt.Sprintf("index of %s/%s:1.0.0", f.hosts[0], f.repo(i))), ":")
		return digest
	}
	dir := t.TempDir()
	for name, text := range map[string]string{
		"scanner":  scannerScript,
		running(0): trivyReport("CVE-1 CRITICAL", "CVE-2 HIGH", "CVE-3 LOW"),
		"others":   trivyReport("CVE-3 LOW"),
		running(1): trivyReport("CVE-3 LOW", "CVE-4 MEDIUM"),
	} {
		must(t, os.WriteFile(filepath.Join(dir, name), []byte(text), 0o755))
	}
	in := install(t, append(f.env(), "DOGWATCH_TRIGGER_NTFY_MAIN_URL="+address,
		"DOGWATCH_TRIGGER_NTFY_MAIN_TOPIC=updates", "DOGWATCH_TRIGGER_NTFY_MAIN_BACKLOG=each", "SECRET=hidden",
		"DOGWATCH_POLICY_MINAGE=7d", "DOGWATCH_POLICY_SECURITY=high",
		"DOGWATCH_SCAN_AUTOMATIC=true", "DOGWATCH_SCAN_COMMAND="+filepath.Join(dir, "scanner")+",${image}")...)
	d := in.start()
	ids := map[string]string{}
	eventually(t, "there are two updates", func() bool {
		for _, c := range d.containers() {
			if c.UpdateAvailable {
				ids[c.Name] = c.ID
			}
		}
		return len(ids) == 2
	})
	scanned := func(name string) (s api.Scan) {
		t.Helper()
		eventually(t, "the images of "+name+" are compared", func() bool {
			s = get[api.Scan](d, http.MethodGet, "/api/containers/"+ids[name]+"/scan")
			return s.State == "done"
		})
		return s
	}
	if got, want := scanned("c0000").Summary, "fixes 1 critical and 1 high, adds none"; got != want {
		t.Errorf("c0000: %q, want %q", got, want)
	}
	if got, want := scanned("c0001").Summary, "fixes 1 medium, adds none"; got != want {
		t.Errorf("c0001: %q, want %q", got, want)
	}
	states := func() map[string]string {
		all := map[string]string{}
		for _, c := range d.containers() {
			all[c.Name] = string(c.Decision.State)
		}
		return all
	}
	check := func(when string) {
		t.Helper()
		eventually(t, when+" the fix is offered, and the other update held", func() bool {
			now := states()
			return now["c0000"] == "offered" && now["c0001"] == "held"
		})
		eventually(t, when+" there is a message", func() bool { return len(messages()) > 0 })
		d.settled()
		if all := messages(); len(all) != 1 ||
			!strings.Contains(all[0].Title, "c0000") && !strings.Contains(all[0].Title, "app0000") {
			t.Errorf("%s: messages %+v", when, all)
		}
	}
	check("first")
	calls := func() string {
		text, err := os.ReadFile(filepath.Join(dir, "calls"))
		must(t, err)
		return string(text)
	}
	if got := calls(); strings.Count(got, "\n") != 4 || strings.Contains(got, "hidden") {
		t.Errorf("the scanner was started for\n%swant four images, and no variable that is not its own", got)
	}
	must(t, d.cmd.Process.Kill())
	<-d.done
	d = in.start()
	d.check()
	check("after the kill")
	if status, body := d.request(http.MethodPost, "/api/containers/"+ids["c0001"]+"/scan",
		""); status != http.StatusAccepted {
		t.Errorf("asked for by a user: %d %s", status, body)
	}
	scanned("c0001")
	if got := calls(); strings.Count(got, "\n") != 4 {
		t.Errorf("images were scanned again:\n%s", got)
	}
	d.stop()
}
