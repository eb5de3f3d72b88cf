package auth

import (
	"net/http"
	"net/netip"
)

// Actor is on whose behalf the application does something: an identity, and the
// address of its client. It is passed explicitly to what decides or records.
type Actor struct {
	Identity
	// Address is that of the client; the zero Addr when it is not known.
	Address netip.Addr
}

// ClientAddress returns the address for logs and events; "" when it is not known.
func (a Actor) ClientAddress() string {
	if !a.Address.IsValid() {
		return ""
	}
	return a.Address.String()
}

// ActorOf returns the actor of a request whose caller is known, see With. The
// address of its client may be one that a trusted proxy forwards.
func (a *Auth) ActorOf(r *http.Request) Actor {
	return Actor{Identity: From(r.Context()), Address: a.clientAddress(r)}
}
