package core_test

import (
	"encoding/json"
	"errors"
	"io"
	"os/exec"
	"slices"
	"strings"
	"testing"
)

const module = "github.com/dogwatch/dogwatch/"

// owners are the packages that may import a heavy dependency; no other may.
var owners = map[string][]string{
	"database/sql":                        {"core/store"},
	"modernc.org/sqlite":                  {"core/store"},
	"github.com/spf13/viper":              {"core/config"},
	"github.com/spf13/cobra":              {"cmd/dogwatch"},
	"github.com/go-chi/chi/v5":            {"core/serve/api"},
	"github.com/prometheus/client_golang": {"core/serve/metrics"},
	"github.com/hashicorp/go-plugin":      {"sdk/plugin", "internal/protocol", "internal/pluginclient", "core/plugin"},
	"google.golang.org/grpc": {"sdk/plugin", "sdk/internal/inprocess", "sdk/proto",
		"internal/protocol", "internal/pluginclient", "internal/pluginserver", "internal/wireplugin", "core/plugin", "core/plugin/agent"},
	"github.com/coder/websocket":          {"core/plugin/agent"},
	"github.com/hashicorp/yamux":          {"core/plugin/agent"},
	"github.com/docker/docker":            {"plugins/watchers/docker"},
	"github.com/aws/aws-sdk-go-v2":        {"plugins/registries/ecr"},
	"github.com/eclipse/paho.mqtt.golang": {"plugins/triggers/mqtt"},
	"github.com/wneessen/go-mail":         {"plugins/triggers/smtp"},
	"github.com/netresearch/go-cron":      {"core/watch/schedule"},
	"github.com/dlclark/regexp2":          {"core/decide/tag", "core/model/tally", "core/config/template"},
	"go.yaml.in/yaml/v3": {"core/config", "core/app/migrate", "core/decide/preset", "internal/gallery",
		"internal/yamltext", "plugins/watchers/docker/internal/compose", "plugins/watchers/kubernetes/internal/cluster"},
	"github.com/coreos/go-oidc/v3":           {"core/serve/auth"},
	"golang.org/x/oauth2":                    {"core/serve/auth"},
	"golang.org/x/crypto/ssh":                {"plugins/watchers/docker/internal/sshdial"},
	"github.com/tg123/go-htpasswd":           {"core/serve/auth"},
	"oras.land/oras-go/v2":                   {"core/plugin/artifact"},
	"github.com/yuin/goldmark":               {"core/decide/notes"},
	"github.com/microcosm-cc/bluemonday":     {},
	"aead.dev/minisign":                      {"core/plugin/artifact"},
	"github.com/google/go-containerregistry": {"packaging/image"},
	"github.com/getkin/kin-openapi":          {},
	"k8s.io":                                 {}, // client-go would be larger than the plugin that uses it
}

// goPackage is what go list tells of a package.
type goPackage struct {
	ImportPath string
	Imports    []string
}

func packages(t *testing.T) []goPackage {
	t.Helper()
	out, err := exec.Command("go", "list", "-json=ImportPath,Imports", module+"...").Output()
	if err != nil {
		t.Fatalf("go list: %v", err)
	}
	var all []goPackage
	decoder := json.NewDecoder(strings.NewReader(string(out)))
	for {
		var p goPackage
		if err := decoder.Decode(&p); errors.Is(err, io.EOF) {
			return all
		} else if err != nil {
			t.Fatal(err)
		}
		p.ImportPath = strings.TrimPrefix(p.ImportPath, module)
		all = append(all, p)
	}
}

func below(path, root string) bool { return path == root || strings.HasPrefix(path, root+"/") }

func TestDependenciesPointDownwards(t *testing.T) {
	for _, p := range packages(t) {
		for _, full := range p.Imports {
			imported, ours := strings.CutPrefix(full, module)
			if !ours {
				continue
			}
			from := p.ImportPath
			switch {
			case below(from, "sdk") && !below(imported, "sdk") && !below(imported, "internal"),
				below(from, "sdk/plugin") && below(imported, "internal") && imported != "internal/protocol" &&
					imported != "internal/pluginserver" && imported != "internal/idle",
				below(from, "internal") && !below(imported, "internal") && !below(imported, "sdk"),
				below(from, "core") && !below(imported, "core") && !below(imported, "sdk") && !below(imported, "internal"),
				below(from, "plugins") && !below(imported, "plugins") && !below(imported, "sdk") && !below(imported, "internal"),
				below(from, "plugins") && below(imported, "plugins") && kindOf(from) != kindOf(imported),
				below(from, "examples") && !below(imported, "sdk") && !below(imported, "examples"):
				t.Errorf("%s must not import %s", from, imported)
			}
		}
	}
}

// owns reports whether an owner is a package or has it below itself. In the core a folder stands for its own package.
func owns(owner, path string) bool {
	return path == owner || !below(owner, "core") && below(path, owner)
}

// kindOf returns "watchers", "registries" or "triggers".
func kindOf(path string) string { return strings.Split(path+"//", "/")[1] }

func TestHeavyDependenciesHaveOneOwner(t *testing.T) {
	for _, p := range packages(t) {
		for _, imported := range p.Imports {
			for dependency, allowed := range owners {
				if !below(imported, dependency) {
					continue
				}
				if !slices.ContainsFunc(allowed, func(a string) bool { return owns(a, p.ImportPath) }) {
					t.Errorf("%s imports %s, which belongs to %v", p.ImportPath, imported, allowed)
				}
			}
		}
	}
}

// TestDecisionsHaveNoStore keeps check and dispatch free of what implements their interfaces.
func TestDecisionsHaveNoStore(t *testing.T) {
	for _, p := range packages(t) {
		if !slices.Contains([]string{"core/watch/check", "core/watch/registryquery", "core/decide/decision", "core/notify/dispatch"}, p.ImportPath) {
			continue
		}
		for _, forbidden := range []string{"core/store", "core/plugin"} {
			if slices.Contains(p.Imports, module+forbidden) {
				t.Errorf("%s must declare what it needs instead of importing %s", p.ImportPath, forbidden)
			}
		}
	}
}
