package watcher

import (
	"context"

	"github.com/dogwatch/dogwatch/sdk"
)

// CredentialProvider is a Watcher that knows what its engine logs in with to pull the image of a container it lists.
//
// The type has an option "pullsecrets" (bool, false by default): without it the host asks an instance for none.
type CredentialProvider interface {
	// PullCredentials returns, by id, the credentials of the images of containers. Those whose images are pulled
	// without any, that are not known, or whose credentials cannot be read are not among them.
	//
	// The host uses them in requests about that image alone, and neither stores nor passes them on.
	PullCredentials(ctx context.Context, containerIDs []string) (map[string]PullCredentials, error)
}

// PullCredentials are what an engine pulls an image with.
type PullCredentials struct {
	Credentials sdk.Credentials
	// Host is the registry host that they are for, as references have it: "docker.io".
	Host string
	// Source says where they are kept, "secret media/regcred", and tells them from others of the watcher. It is no secret.
	Source string
}
