package protocol

import (
	pluginv1 "github.com/dogwatch/dogwatch/sdk/proto/v1"
	"github.com/dogwatch/dogwatch/sdk/watcher"
)

// EncodePullCredentials returns the credentials of images on the wire.
func EncodePullCredentials(all map[string]watcher.PullCredentials) *pluginv1.PullCredentialsResponse {
	m := &pluginv1.PullCredentialsResponse{}
	for id, c := range all {
		if m.Containers == nil {
			m.Containers = make(map[string]*pluginv1.PullCredentials, len(all))
		}
		m.Containers[id] = &pluginv1.PullCredentials{
			Credentials: EncodeCredentials(c.Credentials), Host: c.Host, Source: c.Source,
		}
	}
	return m
}

// DecodePullCredentials reverses EncodePullCredentials.
func DecodePullCredentials(m *pluginv1.PullCredentialsResponse) map[string]watcher.PullCredentials {
	var all map[string]watcher.PullCredentials
	for id, c := range m.GetContainers() {
		if all == nil {
			all = make(map[string]watcher.PullCredentials, len(m.GetContainers()))
		}
		all[id] = watcher.PullCredentials{
			Credentials: DecodeCredentials(c.GetCredentials()), Host: c.GetHost(), Source: c.GetSource(),
		}
	}
	return all
}
