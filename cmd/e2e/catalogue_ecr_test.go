package e2e

import (
	"fmt"
	"net/http"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/dogwatch/dogwatch/plugins/registries/registrysim"
	"github.com/dogwatch/dogwatch/plugins/watchers/docker/enginesim"
	"github.com/dogwatch/dogwatch/sdk"
)

// TestECRRefusedAuthorizationIsNotRenewed: ECR answers with 403 to an authorization that has
// expired, and to one whose user may not read a repository. One that was given a
// moment ago cannot have expired: AWS gets no request for another, and the same one
// is used once the user may read. That an old one is renewed takes a minute, so
// it is tested with the type alone, where a test has its own clock.
func TestECRRefusedAuthorizationIsNotRenewed(t *testing.T) {
	t.Parallel()
	all := vendors()
	v := all[slices.IndexFunc(all, func(v vendor) bool { return v.typ == "ecr" })]
	n := newInternet(t, "")
	v.options = with(v.options, map[string]string{"proxy": "http://" + n.proxy, "tls.cafile": n.file})
	sim := registrysim.New(registrysim.Options{Auth: registrysim.Basic, Users: map[string]string{v.user: v.password}})
	sim.Push(v.repo(), "1.0.0")
	var fetched, refused atomic.Int32
	var permitted atomic.Bool
	n.site(awsAPI).HandleFunc("/", authorize("eu-west-1", func() string {
		return fmt.Sprintf("%s-%d", awsGet, fetched.Add(1))
	}))
	n.site(v.host).HandleFunc("/v2/", func(w http.ResponseWriter, r *http.Request) {
		_, password, given := r.BasicAuth()
		switch {
		case given && (!permitted.Load() || password != awsGet+"-1"):
			refused.Add(1)
			registrysim.Status(http.StatusForbidden,
				`{"errors":[{"code":"DENIED","message":"not authorized to perform: ecr:ListImages"}]}`)(w, r)
			return
		case given:
			r.SetBasicAuth(v.user, v.password)
		}
		sim.ServeHTTP(w, r)
	})
	c := &catalogue{
		vendors: []vendor{v}, net: n, sims: map[string]*registrysim.Registry{v.host: sim},
		engine: enginesim.New(enginesim.Config{}),
	}
	c.populate(t)
	c.listen(t)
	d := install(t, asVariables(t, c.sections())...).start()
	d.loaded()

	for range 2 {
		before := refused.Load()
		found := get[[]sdk.Container](d, http.MethodPost, "/api/containers/watch")
		if len(found) != 1 || found[0].Error == nil ||
			!strings.Contains(found[0].Error.Message, "not authorized to perform: ecr:ListImages; check region") {
			t.Errorf("refused: %s", show(found))
		}
		if refused.Load() == before || fetched.Load() != 1 {
			t.Errorf("refused %d times, AWS was fetched %d times, want once", refused.Load()-before, fetched.Load())
		}
	}
	permitted.Store(true)
	sim.Push(v.repo(), "1.1.0")
	found := get[[]sdk.Container](d, http.MethodPost, "/api/containers/watch")
	if len(found) != 1 || found[0].Check.State != sdk.CheckOK || !found[0].UpdateAvailable ||
		found[0].Result.Tag != "1.1.0" || fetched.Load() != 1 {
		t.Errorf("permitted: AWS was fetched %d times, want once: %s", fetched.Load(), show(found))
	}
	d.stop()
	for _, secret := range c.secrets() {
		if strings.Contains(d.said(), secret) {
			t.Errorf("%q is told", secret)
		}
	}
}

// TestECREveryRegion: one instance serves the private registries of every account
// and region, under all their names, each region with a token of its own.
func TestECREveryRegion(t *testing.T) {
	t.Parallel()
	n := newInternet(t, "")
	engine := enginesim.New(enginesim.Config{})
	var fetched sync.Map // region: how often its API was
	apis := map[string]string{
		"eu-west-1": awsAPI, "us-east-1": "api.ecr.us-east-1.amazonaws.com",
		"cn-north-1":     "api.ecr.cn-north-1.amazonaws.com.cn",
		"eusc-de-east-1": "api.ecr.eusc-de-east-1.amazonaws.eu",
	}
	for region, host := range apis {
		count := new(atomic.Int32)
		fetched.Store(region, count)
		n.site(host).HandleFunc("/", authorize(region, func() string { count.Add(1); return awsGet + "-" + region }))
	}
	hosts := map[string]string{ // region by host
		awsHost: "eu-west-1",
		"210987654321.dkr.ecr.eu-west-1.amazonaws.com":      "eu-west-1",
		"123456789012.dkr.ecr.us-east-1.amazonaws.com":      "us-east-1",
		"123456789012.dkr.ecr-fips.us-east-1.amazonaws.com": "us-east-1",
		"210987654321.dkr-ecr.us-east-1.on.aws":             "us-east-1",
		"210987654321.dkr.ecr.cn-north-1.amazonaws.com.cn":  "cn-north-1",
		"210987654321.dkr.ecr.eusc-de-east-1.amazonaws.eu":  "eusc-de-east-1",
	}
	for host, region := range hosts {
		sim := registrysim.New(registrysim.Options{
			Auth: registrysim.Basic, Users: map[string]string{"AWS": awsGet + "-" + region},
		})
		sim.Push("team/app", "1.0.0", "1.1.0")
		n.site(host).Handle("/v2/", sim)
		reference := host + "/team/app:1.0.0"
		image, _ := sim.Image("team/app", "1.0.0")
		engine.AddImage(enginesim.Image{Tags: []string{reference}, Digests: []string{host + "/team/app@" + image.Digest}})
		_, err := engine.Create(enginesim.Container{Name: strings.ReplaceAll(host, ".", "-"), Image: reference})
		must(t, err)
	}
	server, err := engine.Listen(shortDir(t))
	must(t, err)
	t.Cleanup(func() { server.Close() })
	d := install(t, "DOGWATCH_WATCHER_DOCKER_LOCAL_SOCKET="+server.Address, "DOGWATCH_WATCHER_DOCKER_LOCAL_CRON=0 0 1 1 *",
		"WUD_REGISTRY_ECR_PRIVATE_REGION=eu-west-1", "WUD_REGISTRY_ECR_PRIVATE_ACCOUNTID=123456789012",
		"WUD_REGISTRY_ECR_PRIVATE_ACCESSKEYID="+awsKey, "WUD_REGISTRY_ECR_PRIVATE_SECRETACCESSKEY="+awsSecret,
		"DOGWATCH_REGISTRY_ECR_PRIVATE_PROXY=http://"+n.proxy, "DOGWATCH_REGISTRY_ECR_PRIVATE_TLS_CAFILE="+n.file,
		// What no instance serves is fetched through the same proxy, so that it would be seen.
		"DOGWATCH_REGISTRY_OCI_PUBLIC_PROXY=http://"+n.proxy, "DOGWATCH_REGISTRY_OCI_PUBLIC_TLS_CAFILE="+n.file).start()
	found := get[[]sdk.Container](d, http.MethodPost, "/api/containers/watch")
	if len(found) != len(hosts) {
		t.Errorf("%d containers, want %d", len(found), len(hosts))
	}
	for _, c := range found {
		if c.Check.State != sdk.CheckOK || !c.UpdateAvailable || c.Image.Registry.Name != "ecr.private" {
			t.Errorf("%s: %s %v by %s, error %s", c.Image.Registry.Host, c.Check.State, c.UpdateAvailable,
				c.Image.Registry.Name, show(c.Error))
		}
	}
	fetched.Range(func(region, count any) bool {
		if got := count.(*atomic.Int32).Load(); got != 1 {
			t.Errorf("AWS was fetched %d times for a token of %s, want once", got, region)
		}
		return true
	})
	d.stop()
}
