package gallery

import (
	"github.com/dogwatch/dogwatch/sdk"
	"github.com/dogwatch/dogwatch/sdk/httpclient"
)

// Trust has a reader accept the certificates in a file.
func (n *Newest) Trust(file string) (err error) {
	n.client, err = httpclient.New(sdk.Env{}, httpclient.Options{TLS: httpclient.TLS{CAFile: file}})
	return err
}
