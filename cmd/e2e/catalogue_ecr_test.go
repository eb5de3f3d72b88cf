package e2e

import (
	"fmt"
	"net/http"
	"slices"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/dogwatch/dogwatch/plugins/registries/registrysim"
	"github.com/dogwatch/dogwatch/plugins/watchers/docker/enginesim"
	"github.com/dogwatch/dogwatch/sdk"
)

// TestRefusedAuthorization: ECR answers with 403 to an authorization that has
// expired, and to one whose user may not read a repository. One that was given a
// moment ago cannot have expired: AWS is not asked for another, and the same one
// is used once the user may read. That an old one is renewed takes a minute, so
// it is tested with the type alone, where a test has its own clock.
func TestRefusedAuthorization(t *testing.T) {
	all := vendors()
	v := all[slices.IndexFunc(all, func(v vendor) bool { return v.typ == "ecr" })]
	n := newInternet(t, "")
	v.options = with(v.options, map[string]string{"proxy": "http://" + n.proxy, "tls.cafile": n.file})
	sim := registrysim.New(registrysim.Options{Auth: registrysim.Basic, Users: map[string]string{v.user: v.password}})
	sim.Push(v.repo(), "1.0.0")
	var asked, refused atomic.Int32
	var permitted atomic.Bool
	n.site(awsAPI).HandleFunc("/", authorize(func() string { return fmt.Sprintf("%s-%d", awsGet, asked.Add(1)) }))
	n.site(v.host).HandleFunc("/v2/", func(w http.ResponseWriter, r *http.Request) {
		_, password, given := r.BasicAuth()
		switch {
		case given && (!permitted.Load() || password != awsGet+"-1"):
			refused.Add(1)
			registrysim.Status(http.StatusForbidden, `{"errors":[{"code":"DENIED","message":"not authorized to perform: ecr:ListImages"}]}`)(w, r)
			return
		case given:
			r.SetBasicAuth(v.user, v.password)
		}
		sim.ServeHTTP(w, r)
	})
	c := &catalogue{vendors: []vendor{v}, net: n, sims: map[string]*registrysim.Registry{v.host: sim}, engine: enginesim.New(enginesim.Config{})}
	c.populate(t)
	c.listen(t)
	d := install(t, asVariables(t, c.sections())...).start()
	d.loaded()

	for range 2 {
		before := refused.Load()
		found := get[[]sdk.Container](d, http.MethodPost, "/api/containers/watch")
		if len(found) != 1 || found[0].Error == nil || !strings.Contains(found[0].Error.Message, "not authorized to perform: ecr:ListImages; check region") {
			t.Errorf("refused: %s", show(found))
		}
		if refused.Load() == before || asked.Load() != 1 {
			t.Errorf("refused %d times, AWS was asked %d times, want once", refused.Load()-before, asked.Load())
		}
	}
	permitted.Store(true)
	sim.Push(v.repo(), "1.1.0")
	found := get[[]sdk.Container](d, http.MethodPost, "/api/containers/watch")
	if len(found) != 1 || found[0].Check.State != sdk.CheckOK || !found[0].UpdateAvailable || found[0].Result.Tag != "1.1.0" || asked.Load() != 1 {
		t.Errorf("permitted: AWS was asked %d times, want once: %s", asked.Load(), show(found))
	}
	d.stop()
	for _, secret := range c.secrets() {
		if strings.Contains(d.said(), secret) {
			t.Errorf("%q is told", secret)
		}
	}
}
