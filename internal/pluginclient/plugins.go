package pluginclient

import (
	"context"
	"errors"

	goplugin "github.com/hashicorp/go-plugin"
	"google.golang.org/grpc"

	"github.com/dogwatch/dogwatch/internal/protocol"
)

// ClientPlugins is what the host puts into ClientConfig.VersionedPlugins.
// Dispensing protocol.PluginName then returns a *Client.
func ClientPlugins() map[int]goplugin.PluginSet { return protocol.Plugins(adapter{}) }

// adapter makes a Client of go-plugin's connection.
type adapter struct {
	goplugin.NetRPCUnsupportedPlugin
}

func (adapter) GRPCServer(*goplugin.GRPCBroker, *grpc.Server) error {
	return errors.New("a host is no plugin")
}

func (adapter) GRPCClient(_ context.Context, _ *goplugin.GRPCBroker, c *grpc.ClientConn) (any, error) {
	return NewClient(c), nil
}
