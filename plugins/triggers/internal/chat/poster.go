package chat

import (
	"context"
	"net/http"

	"github.com/dogwatch/dogwatch/sdk"
	"github.com/dogwatch/dogwatch/sdk/httpclient"
	"github.com/dogwatch/dogwatch/sdk/trigger"
)

// poster is a trigger that makes one request for each delivery.
type poster[M any] struct {
	Connection
	render func(trigger.Request) (M, error)
	post   func(ctx context.Context, message any) error
}

// Posting returns a trigger that posts what render makes of a delivery to an address of a service.
func Posting[M any](
	env sdk.Env, o httpclient.Options, s Service, address string, render func(trigger.Request) (M, error),
) (trigger.Trigger, error) {
	client, err := New(env, o, s)
	if err != nil {
		return nil, err
	}
	return &poster[M]{client.Connection, render, func(ctx context.Context, message any) error {
		return client.Post(ctx, address, message)
	}}, nil
}

// PostingJSON is Posting to a service whose status says all there is to say. header is added to the requests; secrets
// are texts that no error may hold.
func PostingJSON[M any](
	env sdk.Env, o httpclient.Options, address string, header http.Header, secrets []string,
	render func(trigger.Request) (M, error),
) (trigger.Trigger, error) {
	c, err := Connect(env, o, secrets...)
	if err != nil {
		return nil, err
	}
	return &poster[M]{c, render, func(ctx context.Context, message any) error {
		return c.JSON(ctx, http.MethodPost, address, header, message, nil)
	}}, nil
}

// Run posts one message.
func (p *poster[M]) Run(ctx context.Context, req trigger.Request) error {
	message, err := p.render(req)
	if err != nil {
		return err
	}
	return p.post(ctx, message)
}
