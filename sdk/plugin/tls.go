package plugin

import (
	"crypto/tls"
	"os"

	"github.com/dogwatch/dogwatch/internal/protocol"
)

// processTLS returns how a process that a host started secures its connection;
// nil when the host gave it no key, and go-plugin is to see to it. The key is
// gone from the environment then: what the plugin starts must not have it.
func processTLS() (*tls.Config, error) {
	key := os.Getenv(protocol.KeyVariable)
	if key == "" {
		return nil, nil
	}
	if err := os.Unsetenv(protocol.KeyVariable); err != nil {
		return nil, err
	}
	return protocol.MutualTLS([]byte(os.Getenv(protocol.CertVariable)), []byte(key))
}
