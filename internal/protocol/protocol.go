// Package protocol is what both sides of the plugin protocol share: the
// handshake, the conversion between the model of the sdk and the messages, and
// that between errors and statuses. The host's side is internal/pluginclient,
// the plugin's is sdk/plugin.
package protocol

import (
	goplugin "github.com/hashicorp/go-plugin"
)

const (
	// Version is the major version of the protocol; go-plugin negotiates it.
	Version = 1
	// PluginName is the name to dispense: every executable holds one bundle.
	PluginName = "bundle"
	// MethodPrefix begins the full name of every method of the protocol;
	// go-plugin has services of its own on the same connection.
	MethodPrefix = "/dogwatch.plugin.v1."
)

// Handshake is how host and plugin recognise each other. The cookie is no
// secret: it only keeps a user from running a plugin by hand.
func Handshake() goplugin.HandshakeConfig {
	return goplugin.HandshakeConfig{
		ProtocolVersion:  Version,
		MagicCookieKey:   "DOGWATCH_PLUGIN",
		MagicCookieValue: "6f3d0c1a-watch",
	}
}

// Plugins is what go-plugin wants in VersionedPlugins of either side.
func Plugins(p goplugin.Plugin) map[int]goplugin.PluginSet {
	return map[int]goplugin.PluginSet{Version: {PluginName: p}}
}
