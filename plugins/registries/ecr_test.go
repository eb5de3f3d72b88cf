package registries_test

import (
	"encoding/base64"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/dogwatch/dogwatch/plugins/registries/registrysim"
	"github.com/dogwatch/dogwatch/sdk"
	"github.com/dogwatch/dogwatch/sdk/plugintest"
	"github.com/dogwatch/dogwatch/sdk/registry"
	"github.com/dogwatch/dogwatch/sdk/registrytest"
)

const (
	ecrHost  = "123456789012.dkr.ecr.eu-west-1.amazonaws.com"
	keyID    = "AKIARECOGNISABLE"
	ecrToken = "ecr-recognisable-token"
)

// awsAPI is GetAuthorizationToken of ECR, as the AWS client requests it.
type awsAPI struct {
	life     time.Duration
	requests atomic.Int32
	// numbered makes each token another one: see numberedToken.
	numbered bool
	// fail is an error code to respond with, and its status.
	fail   string
	status int
}

func numberedToken(n int32) string { return fmt.Sprintf("%s-%d", ecrToken, n) }

func (a *awsAPI) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	given, n := ecrToken, a.requests.Add(1)
	if a.numbered {
		given = numberedToken(n)
	}
	signed := r.Header.Get("Authorization")
	if !strings.HasSuffix(r.Header.Get("X-Amz-Target"), ".GetAuthorizationToken") || !strings.Contains(signed, keyID) ||
		!strings.Contains(signed, "/eu-west-1/ecr/") {
		http.Error(w, "unexpected request", http.StatusBadRequest)
		return
	}
	w.Header().Set("Content-Type", "application/x-amz-json-1.1")
	if a.fail != "" {
		w.WriteHeader(a.status)
		fmt.Fprintf(w, `{"__type":%q,"message":"the key %s is %s"}`, a.fail, keyID, signed)
		return
	}
	token := base64.StdEncoding.EncodeToString([]byte("AWS:" + given))
	fmt.Fprintf(w, `{"authorizationData":[{"authorizationToken":%q,"expiresAt":%d,"proxyEndpoint":"https://%s"}]}`,
		token, time.Now().Add(a.life).Unix(), ecrHost)
}

func newECR(t *testing.T, a *awsAPI) (*registrysim.Registry, map[string]any) {
	t.Helper()
	api := httptest.NewServer(a)
	t.Cleanup(api.Close)
	sim := registrysim.New(registrysim.Options{Auth: registrysim.Basic, Users: map[string]string{"AWS": ecrToken}})
	sim.Push("team/app", "1.0.0")
	return sim, map[string]any{
		"region": "eu-west-1", "accesskeyid": keyID, "secretaccesskey": secret,
		"endpoint": api.URL, "url": start(t, sim).URL,
	}
}

func TestECRLogin(t *testing.T) {
	repo := registry.Repository{Host: ecrHost, Name: "team/app"}
	for name, test := range map[string]struct {
		life     time.Duration
		requests int32
	}{
		"authorization is kept":              {12 * time.Hour, 1},
		"authorization that ends is renewed": {4 * time.Minute, 3},
	} {
		t.Run(name, func(t *testing.T) {
			a := &awsAPI{life: test.life}
			_, options := newECR(t, a)
			r, _ := newInstance(t, "ecr", options)
			for range 3 {
				if list, err := r.Tags(t.Context(), repo, ""); err != nil || len(list.Tags) != 1 {
					t.Fatalf("%+v, %v", list, err)
				}
			}
			if got := a.requests.Load(); got != test.requests {
				t.Errorf("AWS got %d requests, want %d", got, test.requests)
			}
			got, err := r.(registry.CredentialProvider).Credentials(t.Context(), repo)
			if err != nil || got != (sdk.Credentials{Username: "AWS", Password: ecrToken}) {
				t.Errorf("Credentials returns %v, %v", got, err)
			}
		})
	}
}

// ECR refuses an authorization that has expired with 403, as it does one whose
// user may not read the repository: only one that is not fresh is renewed.
func TestECRExpiredAuthorization(t *testing.T) {
	a := &awsAPI{life: 12 * time.Hour, numbered: true}
	sim, options := newECR(t, a)
	var accepted, denied atomic.Int32
	door := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		_, password, given := r.BasicAuth()
		switch {
		case given && password != numberedToken(accepted.Load()):
			denied.Add(1)
			registrysim.Status(http.StatusForbidden,
				`{"errors":[{"code":"DENIED","message":"Your authorization token has expired. Reauthenticate and try again."}]}`)(w, r)
			return
		case given:
			r.SetBasicAuth("AWS", ecrToken)
		}
		sim.ServeHTTP(w, r)
	}))
	defer door.Close()
	// A connection that waits for its next request would hold up the clock of the test.
	door.Config.SetKeepAlivesEnabled(false)
	api := httptest.NewServer(a)
	defer api.Close()
	api.Config.SetKeepAlivesEnabled(false)
	options["url"], options["endpoint"] = door.URL, api.URL

	synctest.Test(t, func(t *testing.T) {
		r, _ := newInstance(t, "ecr", options)
		list := func(when string, kind error, requests, refused int32) {
			t.Helper()
			_, err := r.Tags(t.Context(), registry.Repository{Host: ecrHost, Name: "team/app"}, "")
			if !errors.Is(err, kind) || a.requests.Load() != requests || denied.Load() != refused {
				t.Errorf("%s: %v, AWS got %d requests, the registry refused %d times; want %v, %d, %d", when, err,
					a.requests.Load(), denied.Load(), kind, requests, refused)
			}
			if err != nil && strings.Contains(err.Error(), ecrToken) {
				t.Errorf("%s: leaks the token: %v", when, err)
			}
		}
		accepted.Store(1)
		list("at first", nil, 1, 0)
		accepted.Store(2)
		list("refused though fresh", sdk.ErrUnauthorized, 1, 1)
		time.Sleep(time.Hour)
		list("expired", nil, 2, 2)
		list("renewed", nil, 2, 2)
	})
}

// The gallery wants no keys, and does not get what they stand for.
func TestECRGalleryIsAnonymous(t *testing.T) {
	a := &awsAPI{life: time.Hour}
	_, options := newECR(t, a)
	gallery := registrysim.New(registrysim.Options{
		Auth: registrysim.Token, Service: "public.ecr.aws", Scopes: registrysim.EveryTarget,
	})
	gallery.Push("nginx/nginx", "1.0")
	gallery.Push("docker/library/redis", "1.0")
	options["url"], options["public"] = start(t, gallery).URL, true
	r, _ := newInstance(t, "ecr", options)
	for _, name := range []string{"nginx/nginx", "docker/library/redis"} {
		if _, err := r.Tags(t.Context(), registry.Repository{Host: "public.ecr.aws", Name: name}, ""); err != nil {
			t.Error(err)
		}
	}
	if got := gallery.Counts(); got.Tokens != 1 || a.requests.Load() != 0 {
		t.Errorf("%+v, AWS got %d requests", got, a.requests.Load())
	}
}

func TestECRErrorsNameTheRemedy(t *testing.T) {
	tests := []struct {
		code   string
		status int
		kind   error
		want   string
	}{
		{"UnrecognizedClientException", 400, sdk.ErrUnauthorized,
			"refused the access key: UnrecognizedClientException; check region, accesskeyid and secretaccesskey"},
		{"AccessDeniedException", 400, sdk.ErrUnauthorized, "ecr:GetAuthorizationToken"},
		{"ServerException", 500, sdk.ErrUnavailable, "failed: ServerException"},
		{"ThrottlingException", 400, nil, "too many requests"},
		{keyID + " " + secret, 400, nil, "an unreadable error"},
	}
	for _, test := range tests {
		_, options := newECR(t, &awsAPI{fail: test.code, status: test.status})
		r, _ := newInstance(t, "ecr", options)
		_, err := r.Tags(t.Context(), registry.Repository{Host: ecrHost, Name: "team/app"}, "")
		if err == nil || !strings.Contains(err.Error(), test.want) ||
			!strings.HasPrefix(err.Error(),
				"list tags of team/app at "+ecrHost+": log in to "+ecrHost+": the ECR API in eu-west-1 ") {
			t.Errorf("%s: error %v, want %q", test.code, err, test.want)
			continue
		}
		if test.kind != nil && !errors.Is(err, test.kind) {
			t.Errorf("%s: %v is not %v", test.code, err, test.kind)
		}
		for _, leak := range []string{keyID, secret, "Credential="} {
			if strings.Contains(err.Error(), leak) {
				t.Errorf("%s: leaks %q: %v", test.code, leak, err)
			}
		}
	}
}

func TestECRConformance(t *testing.T) {
	service := func(url string) registrytest.Service {
		return registrytest.Service{
			Options: map[string]any{
				"region": "eu-west-1", "accesskeyid": keyID, "secretaccesskey": secret, "endpoint": url, "url": url,
			},
			Repository: registry.Repository{Host: ecrHost, Name: "team/app"},
			Tag:        "1.0.0",
		}
	}
	registrytest.Run(t, typeOf(t, "ecr"), registrytest.Case{
		Working: func(t *testing.T) registrytest.Service {
			sim, options := newECR(t, &awsAPI{life: time.Hour})
			s := service("")
			s.Options = options
			image, _ := sim.Image("team/app", s.Tag)
			s.Digest = image.Digest
			return s
		},
		Hanging: func(t *testing.T, reached func()) registrytest.Service {
			return service(plugintest.Hanging(t, reached))
		},
		Failing: registrytest.HTTPFailures(service),
		Invalid: []registrytest.Invalid{
			{Field: "region", Set: map[string]any{"region": nil}},
			{Field: "region", Set: map[string]any{"region": "eu-west-1.evil.test/"}},
			{Field: "accesskeyid", Set: map[string]any{"accesskeyid": nil}},
			{Field: "secretaccesskey", Set: map[string]any{"secretaccesskey": nil}},
			{Field: "accountid", Set: map[string]any{"accountid": "my-account"}},
			{Field: "mirror", Set: map[string]any{"url": nil, "mirror": "ftp://registry.test"}},
		},
	})
}
