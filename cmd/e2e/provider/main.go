// Command provider is an OpenID Connect provider for the tests of Dogwatch. The
// protocol is that of ory/fosite, the library within Ory Hydra; the users, their
// pages and the address at which a test spoils things are here.
//
// It is a module of its own, so that Dogwatch does not depend on that library.
package main

import (
	"fmt"
	"net/http"
	"os"
)

func main() {
	if err := run(os.Getenv("PROVIDER_ADDRESS")); err != nil {
		fmt.Fprintln(os.Stderr, "provider:", err)
		os.Exit(1)
	}
}

func run(address string) error {
	p, err := newProvider("http://"+address, os.Getenv("PROVIDER_CLIENT"), os.Getenv("PROVIDER_SECRET"))
	if err != nil {
		return err
	}
	mux := http.NewServeMux()
	mux.HandleFunc("GET /.well-known/openid-configuration", p.discovery)
	mux.HandleFunc("GET /keys", p.publicKeys)
	mux.HandleFunc("/authorize", p.authorize)
	mux.HandleFunc("POST /token", p.token)
	mux.HandleFunc("GET /userinfo", p.userinfo)
	mux.HandleFunc("/logout", p.logout)
	mux.HandleFunc("POST /control", p.control)
	return http.ListenAndServe(address, mux)
}
