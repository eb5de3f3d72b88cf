// Package pluginv1 is version 1 of the plugin protocol on the wire. Plugin
// authors never need it: package sdk/plugin serves the hand-written types.
package pluginv1

//go:generate go run ../generate
