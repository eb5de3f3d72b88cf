// Package plugin joins a bundle of types and the Dogwatch host: Serve is all
// that the main function of a plugin needs, and Client is how the host speaks to it.
//
//	func main() {
//		plugin.Serve(plugin.Bundle{Version: version, Triggers: []trigger.Type{file.Type()}})
//	}
//
// Nothing of gRPC or of the processes in between shows on either side: errors
// keep their text and their kind (sdk.ErrNotFound, *sdk.InvalidError, …), and a
// cancelled context is cancelled in the plugin too.
package plugin

import (
	"context"
	"fmt"

	goplugin "github.com/hashicorp/go-plugin"
	"google.golang.org/grpc"

	"github.com/dogwatch/dogwatch/sdk/kind"
	"github.com/dogwatch/dogwatch/sdk/registry"
	"github.com/dogwatch/dogwatch/sdk/trigger"
	"github.com/dogwatch/dogwatch/sdk/watcher"
)

const (
	// ProtocolVersion is the major version of the protocol; go-plugin negotiates it.
	ProtocolVersion = 1
	// PluginName is the name to dispense: every executable holds one bundle.
	PluginName = "bundle"
)

// Bundle is what one executable offers.
type Bundle struct {
	// Version is the version of the executable, shown to the operator.
	Version    string
	Watchers   []watcher.Type
	Registries []registry.Type
	Triggers   []trigger.Type
}

// Types returns the descriptions of everything in the bundle, in its order.
func (b Bundle) Types() []kind.Type {
	var types []kind.Type
	for _, t := range b.Watchers {
		types = append(types, t.Type)
	}
	for _, t := range b.Registries {
		types = append(types, t.Type)
	}
	for _, t := range b.Triggers {
		types = append(types, t.Type)
	}
	return types
}

// check refuses a bundle whose types could not be told apart.
func (b Bundle) check() error {
	seen := map[typeKey]bool{}
	for _, t := range b.Types() {
		key := typeKey{t.Kind, t.Name}
		if seen[key] {
			return fmt.Errorf("the bundle lists %s type %q twice", t.Kind, t.Name)
		}
		seen[key] = true
	}
	return nil
}

type typeKey struct {
	kind kind.Kind
	name string
}

// Handshake is how host and plugin recognise each other. The cookie is no
// secret: it only keeps people from running a plugin by hand.
func Handshake() goplugin.HandshakeConfig {
	return goplugin.HandshakeConfig{
		ProtocolVersion:  ProtocolVersion,
		MagicCookieKey:   "DOGWATCH_PLUGIN",
		MagicCookieValue: "6f3d0c1a-watch",
	}
}

// ClientPlugins is what the host puts into ClientConfig.VersionedPlugins.
// Dispensing PluginName then gives a *Client.
func ClientPlugins() map[int]goplugin.PluginSet {
	return map[int]goplugin.PluginSet{ProtocolVersion: {PluginName: &adapter{}}}
}

// adapter fits a bundle into go-plugin; the host's side of it has no server.
type adapter struct {
	goplugin.NetRPCUnsupportedPlugin
	server *server
}

func (a *adapter) GRPCServer(_ *goplugin.GRPCBroker, s *grpc.Server) error {
	a.server.register(s)
	return nil
}

func (a *adapter) GRPCClient(_ context.Context, _ *goplugin.GRPCBroker, c *grpc.ClientConn) (any, error) {
	return NewClient(c), nil
}
