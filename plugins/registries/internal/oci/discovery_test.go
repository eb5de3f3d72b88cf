package oci

import (
	"context"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/dogwatch/dogwatch/plugins/registries/registrysim"
)

// TestDiscoveryIsNotHeldUpByHangingRepositories holds up the others of its host for a
// moment only, and costs one request for each repository that hangs.
func TestDiscoveryIsNotHeldUpByHangingRepositories(t *testing.T) {
	for hanging := range 3 {
		t.Run(fmt.Sprint(hanging), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				sim := registrysim.New(registrysim.Options{Auth: registrysim.Token})
				hung := 0
				r := newRegistry(internet{simHost: http.HandlerFunc(func(w http.ResponseWriter, req *http.Request) {
					if strings.Contains(req.URL.Path, "/hanging") {
						hung++
						<-req.Context().Done()
						return
					}
					sim.ServeHTTP(w, req)
				})})
				ctx, cancel := context.WithTimeout(t.Context(), 30*time.Second) // that of a call to a plugin
				defer cancel()
				names := slices.Clone([]string{"team/hanging0", "team/hanging1"}[:hanging])
				repos := pushAll(sim, append(names, fiveNames...)...)
				var wait sync.WaitGroup
				for _, hangs := range repos[:hanging] {
					wait.Go(func() {
						if _, err := r.Tags(ctx, hangs, ""); err == nil {
							t.Error("a repository that hangs has tags")
						}
					})
					synctest.Wait() // it is the first, or waits for the first
				}
				began := time.Now()
				for _, other := range repos[hanging:] {
					wait.Go(func() {
						if _, err := r.Tags(ctx, other, ""); err != nil {
							t.Error(err)
						}
						if took, most := time.Since(began), time.Duration(hanging)*discoveryTime; took > most {
							t.Errorf("%s had its response after %s, want %s at most", other.Name, took, most)
						}
					})
				}
				wait.Wait()
				// One challenge, one token and five lists, whatever hangs.
				if got := sim.Counts(); got.Total != 7 || hung != hanging {
					t.Errorf("%+v and %d requests that hang, want 7 and %d", got, hung, hanging)
				}
			})
		})
	}
}

// The other requests wait for a first one that is slow, within discoveryTime.
func TestDiscoveryWaitsForSlowFirstRequest(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		sim := registrysim.New(registrysim.Options{Auth: registrysim.Token})
		r := newRegistry(internet{simHost: http.HandlerFunc(func(w http.ResponseWriter, req *http.Request) {
			time.Sleep(discoveryTime - time.Millisecond)
			sim.ServeHTTP(w, req)
		})})
		var wait sync.WaitGroup
		for _, repo := range pushAll(sim, fiveNames...) {
			wait.Go(func() {
				if _, err := r.Tags(t.Context(), repo, ""); err != nil {
					t.Error(err)
				}
			})
		}
		wait.Wait()
		if got := sim.Counts(); got.Total != 7 {
			t.Errorf("%+v, want one challenge, one token and five lists", got)
		}
	})
}
