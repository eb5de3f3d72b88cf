package ecr

import (
	"context"
	"encoding/base64"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/dogwatch/dogwatch/sdk"
)

// fakeAPI responds in memory, after a second.
type fakeAPI struct {
	requests int
	life     time.Duration
}

func (a *fakeAPI) Do(req *http.Request) (*http.Response, error) {
	select {
	case <-time.After(time.Second):
	case <-req.Context().Done():
		return nil, req.Context().Err()
	}
	a.requests++
	token := base64.StdEncoding.EncodeToString([]byte(fmt.Sprintf("AWS:token-%d", a.requests)))
	body := fmt.Sprintf(`{"authorizationData":[{"authorizationToken":%q,"expiresAt":%d}]}`, token,
		time.Now().Add(a.life).Unix())
	return &http.Response{
		StatusCode: 200, Header: http.Header{"Content-Type": {"application/x-amz-json-1.1"}},
		Body: io.NopCloser(strings.NewReader(body)), Request: req,
	}, nil
}

const private = "123456789012.dkr.ecr.eu-west-1.amazonaws.com"

func TestAuthorizationIsCachedUntilRenewal(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		a := &fakeAPI{life: 12 * time.Hour}
		l := newLogin(Options{Region: "eu-west-1", AccessKeyID: "key", SecretAccessKey: "secret"}, a)
		get := func(want string) sdk.Credentials {
			t.Helper()
			c, err := l.Credentials(t.Context(), private)
			if err != nil || c != (sdk.Credentials{Username: "AWS", Password: want}) {
				t.Errorf("%v, %v; want %s", c, err, want)
			}
			return c
		}
		var all sync.WaitGroup
		for range 10 {
			all.Go(func() { get("token-1") })
		}
		all.Wait()

		first := get("token-1")
		if l.Refused(first) {
			t.Error("a fresh authorization is blamed for a refusal")
		}
		time.Sleep(minAge)
		if !l.Refused(first) {
			t.Error("an old authorization is not blamed for a refusal")
		}
		second := get("token-2")
		if !l.Refused(first) {
			t.Error("what others were given meanwhile is not tried")
		}
		get("token-2")
		time.Sleep(12*time.Hour - margin - time.Minute)
		get("token-2")
		time.Sleep(time.Minute)
		if third := get("token-3"); third == second {
			t.Error("not renewed")
		}
		if got, err := l.Credentials(t.Context(), gallery); err != nil || got != (sdk.Credentials{}) {
			t.Errorf("the gallery gets %v, %v", got, err)
		}
	})
}

// TestAuthorizationPerRegion: what one region's registries refuse costs the others nothing.
func TestAuthorizationPerRegion(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := newLogin(Options{Region: "eu-west-1", AccessKeyID: "key", SecretAccessKey: "secret"}, &fakeAPI{
			life: 12 * time.Hour,
		})
		const other = "210987654321.dkr.ecr.us-east-1.amazonaws.com"
		get := func(host, want string) sdk.Credentials {
			t.Helper()
			c, err := l.Credentials(t.Context(), host)
			if err != nil || c != (sdk.Credentials{Username: "AWS", Password: want}) {
				t.Errorf("%s: %v, %v; want %s", host, c, err, want)
			}
			return c
		}
		get(private, "token-1")
		second := get(other, "token-2")
		get("210987654321.dkr-ecr.eu-west-1.on.aws", "token-1")
		time.Sleep(minAge)
		if !l.Refused(second) {
			t.Error("an old authorization is not blamed for a refusal")
		}
		get(other, "token-3")
		get(private, "token-1")
		if c, err := l.Credentials(t.Context(), "registry.example.com"); err != nil || c != (sdk.Credentials{}) {
			t.Errorf("another host gets %v, %v", c, err)
		}
	})
}

func TestAuthorizationIsCancelled(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := newLogin(Options{Region: "eu-west-1", AccessKeyID: "key", SecretAccessKey: "secret"}, &fakeAPI{life: time.Hour})
		ctx, cancel := context.WithTimeout(t.Context(), 500*time.Millisecond)
		defer cancel()
		var all sync.WaitGroup
		for range 3 {
			all.Go(func() {
				if _, err := l.Credentials(ctx, private); !errors.Is(err, context.DeadlineExceeded) {
					t.Errorf("error %v", err)
				}
			})
		}
		all.Wait()
	})
}

// Keys that AWS refused are not sent again at once.
func TestRefusedKeysAreNotSentAgainAtOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := &recorder{status: http.StatusBadRequest, body: `{"__type":"UnrecognizedClientException"}`}
		l := newLogin(Options{Region: "eu-west-1", AccessKeyID: "key", SecretAccessKey: "secret"}, r)
		get := func(wantRequest bool) {
			t.Helper()
			r.request = nil
			_, err := l.Credentials(t.Context(), private)
			if !errors.Is(err, sdk.ErrUnauthorized) || (r.request != nil) != wantRequest {
				t.Errorf("error %v, requested %v", err, r.request != nil)
			}
		}
		get(true)
		get(false)
		time.Sleep(failureTime)
		get(true)
		time.Sleep(failureTime)
		r.status = http.StatusInternalServerError // says nothing of the keys
		for range 2 {
			r.request = nil
			if _, err := l.Credentials(t.Context(), private); !errors.Is(err, sdk.ErrUnavailable) || r.request == nil {
				t.Errorf("error %v, requested %v", err, r.request != nil)
			}
		}
	})
}
