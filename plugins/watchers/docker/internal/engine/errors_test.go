package engine

import (
	"errors"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/dogwatch/dogwatch/internal/unprivileged"
	"github.com/dogwatch/dogwatch/sdk"
)

func TestPermissionDenied(t *testing.T) {
	unprivileged.Rerun(t)
	path := filepath.Join(t.TempDir(), "s")
	l, err := net.Listen("unix", path)
	if err == nil {
		err = os.Chmod(path, 0o400)
	}
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	f := noConnection(Endpoint{Network: "unix", Address: path}, fmt.Errorf("dial: %w", os.ErrPermission))
	// To root it says what helps in general: no right keeps it from a socket.
	want := "chmod u+w " + path
	if os.Geteuid() == 0 {
		want = "group_add"
	}
	if !errors.Is(f.kind, sdk.ErrUnauthorized) || !strings.Contains(f.text, "permission denied: ") ||
		!strings.Contains(f.text, want) {
		t.Errorf("%+v", f)
	}
}
