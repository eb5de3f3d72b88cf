package e2e

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// galleryScanner returns the setting of a scanner that finds more in the running image of sonarr
// than in any other.
func galleryScanner(t *testing.T, f *fleet) string {
	t.Helper()
	running, _ := f.registries[galleryHub].Image("linuxserver/sonarr", "4.0.9")
	_, digest, _ := strings.Cut(running.Digest, ":")
	dir := t.TempDir()
	for name, text := range map[string]string{
		"scanner": scannerScript,
		digest:    trivyReport("CVE-2026-1001 CRITICAL", "CVE-2026-1002 CRITICAL", "CVE-2026-1003 HIGH", "CVE-2026-1004 LOW"),
		"others":  trivyReport("CVE-2026-1004 LOW", "CVE-2026-1005 MEDIUM"),
	} {
		must(t, os.WriteFile(filepath.Join(dir, name), []byte(text), 0o755))
	}
	return "DOGWATCH_SCAN_COMMAND=" + filepath.Join(dir, "scanner") + ",${image}"
}
