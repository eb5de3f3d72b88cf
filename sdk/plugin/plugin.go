// Package plugin serves a bundle of types to the Dogwatch host: Serve is all
// that the main function of a plugin needs.
//
//	func main() {
//		plugin.Serve(plugin.Bundle{Version: version, Triggers: []trigger.Type{file.Type()}})
//	}
//
// Nothing of gRPC or of the processes in between shows: the host sees errors
// with their text and their kind (sdk.ErrNotFound, *sdk.InvalidError, …), and a
// context that is cancelled in the host is cancelled in the plugin too.
package plugin

import (
	"context"
	"errors"

	goplugin "github.com/hashicorp/go-plugin"
	"google.golang.org/grpc"

	"github.com/dogwatch/dogwatch/internal/pluginserver"
	"github.com/dogwatch/dogwatch/sdk/kind"
	"github.com/dogwatch/dogwatch/sdk/registry"
	"github.com/dogwatch/dogwatch/sdk/trigger"
	"github.com/dogwatch/dogwatch/sdk/watcher"
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
func (b Bundle) Types() []kind.Type { return pluginserver.Bundle(b).Types() }

// adapter fits a bundle into go-plugin.
type adapter struct {
	goplugin.NetRPCUnsupportedPlugin
	server *pluginserver.Server
}

func (a *adapter) GRPCServer(_ *goplugin.GRPCBroker, s *grpc.Server) error {
	a.server.Register(s)
	return nil
}

func (a *adapter) GRPCClient(context.Context, *goplugin.GRPCBroker, *grpc.ClientConn) (any, error) {
	return nil, errors.New("a plugin is no host")
}
