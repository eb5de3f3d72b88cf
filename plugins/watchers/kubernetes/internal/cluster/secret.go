package cluster

import (
	"cmp"
	"context"
)

// Secret is a secret with what engines log in to registries with:
// https://kubernetes.io/docs/concepts/configuration/secret/#docker-config-secrets
type Secret struct {
	Type string `json:"type"`
	Data struct {
		// Config is of the type kubernetes.io/dockerconfigjson, and Old of kubernetes.io/dockercfg.
		Config []byte `json:".dockerconfigjson"`
		Old    []byte `json:".dockercfg"`
	} `json:"data"`
}

// Reference names an object of the same namespace.
type Reference struct {
	Name string `json:"name"`
}

// PullSecret returns a secret. The error is an sdk.ErrNotFound where there is none of that name, and a *DeniedError
// where the account may not get it. Nothing of the secret is in an error.
func (c *Client) PullSecret(ctx context.Context, namespace, name string) (*Secret, error) {
	return object[Secret](ctx, c, Resource{Version: "v1", Name: "secrets", Namespace: namespace}, name)
}

// PullSecretsOf returns which secrets pods of a service account have that name none: those of the account, "" for
// the default one of the namespace.
func (c *Client) PullSecretsOf(ctx context.Context, namespace, account string) ([]Reference, error) {
	of := Resource{Version: "v1", Name: "serviceaccounts", Namespace: namespace}
	found, err := object[struct {
		ImagePullSecrets []Reference `json:"imagePullSecrets"`
	}](ctx, c, of, cmp.Or(account, "default"))
	if err != nil {
		return nil, err
	}
	return found.ImagePullSecrets, nil
}
