package ecr

import (
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"
)

// recorder keeps the last request, and refuses it.
type recorder struct {
	status  int
	header  http.Header
	body    string
	request *http.Request
	said    string
}

func (r *recorder) Do(req *http.Request) (*http.Response, error) {
	r.request = req
	said, err := io.ReadAll(req.Body)
	if err != nil {
		return nil, err
	}
	r.said = string(said)
	w := httptest.NewRecorder()
	for name := range r.header {
		w.Header().Set(name, r.header.Get(name))
	}
	w.WriteHeader(r.status)
	_, _ = io.WriteString(w, r.body)
	return w.Result(), nil
}

// ownAPI is the API of the region of the options.
func ownAPI(o Options, client doer) api { return newAPI(o, o.Region, o.provider(client), client) }

func TestAuthorizationRequest(t *testing.T) {
	for name, test := range map[string]struct {
		options Options
		want    string
	}{
		"a region": {Options{Region: "eu-west-1"}, "https://api.ecr.eu-west-1.amazonaws.com/"},
		"in China": {Options{Region: "cn-north-1"}, "https://api.ecr.cn-north-1.amazonaws.com.cn/"},
		"an endpoint": {Options{Region: "eu-west-1", Endpoint: &url.URL{Scheme: "https", Host: "vpce-1.example.test"}},
			"https://vpce-1.example.test/"},
	} {
		t.Run(name, func(t *testing.T) {
			test.options.AccessKeyID, test.options.SecretAccessKey = "AKIAEXAMPLE", "secret"
			r := &recorder{status: http.StatusForbidden}
			if _, _, err := ownAPI(test.options, r).authorization(t.Context()); err == nil {
				t.Fatal("a refusal is no error")
			}
			if got := r.request.URL.String(); got != test.want || r.request.Method != http.MethodPost {
				t.Errorf("%s %s, want POST %s", r.request.Method, got, test.want)
			}
			for name, want := range map[string]string{
				"X-Amz-Target":  "AmazonEC2ContainerRegistry_V20150921.GetAuthorizationToken",
				"Content-Type":  "application/x-amz-json-1.1",
				"Authorization": "Credential=AKIAEXAMPLE/",
			} {
				if got := r.request.Header.Get(name); !strings.Contains(got, want) {
					t.Errorf("%s is %q, want %q in it", name, got, want)
				}
			}
			if scope := "/" + test.options.Region +
				"/ecr/aws4_request, SignedHeaders="; !strings.Contains(r.request.Header.Get("Authorization"), scope) {
				t.Errorf("signed as %q", r.request.Header.Get("Authorization"))
			}
			if agent := r.request.UserAgent(); agent != "" {
				t.Errorf("names itself %q", agent)
			}
			if r.said != "{}" {
				t.Errorf("the body is %q", r.said)
			}
		})
	}
}

// TestRequestOfAnotherRegion: the endpoint of the options is that of their region only.
func TestAuthorizationRequestOfAnotherRegion(t *testing.T) {
	o := Options{
		Region: "eu-west-1", AccessKeyID: "AKIAEXAMPLE", SecretAccessKey: "secret",
		Endpoint: &url.URL{Scheme: "https", Host: "vpce-1.example.test"},
	}
	r := &recorder{status: http.StatusForbidden}
	_, _, err := newAPI(o, "us-east-1", o.provider(r), r).authorization(t.Context())
	if got := r.request.URL.String(); got != "https://api.ecr.us-east-1.amazonaws.com/" {
		t.Errorf("requested %s", got)
	}
	if signed := r.request.Header.Get("Authorization"); !strings.Contains(signed, "/us-east-1/ecr/aws4_request") {
		t.Errorf("signed as %q", signed)
	}
	if want := "the ECR API in us-east-1 refused the access key: 403 forbidden; check accesskeyid and secretaccesskey,"; err == nil || !strings.HasPrefix(err.Error(), want) {
		t.Errorf("error %v, want %q", err, want)
	}
}

func TestAuthorizationErrors(t *testing.T) {
	for name, test := range map[string]struct {
		response recorder
		want     string
	}{
		"in the body": {recorder{status: 400, body: `{"__type":"AccessDeniedException"}`},
			"refused the access key: AccessDeniedException;"},
		"with a namespace": {recorder{status: 400, body: `{"__type":"com.amazonaws.ecr#AccessDeniedException"}`},
			"refused the access key: AccessDeniedException;"},
		"as a code": {recorder{status: 400, body: `{"code":"InvalidSignatureException"}`},
			"refused the access key: InvalidSignatureException;"},
		"in a header with a URL": {recorder{
			status: 500, header: http.Header{"X-Amzn-Errortype": {"ServerException:http://internal.amazon.com/"}},
		}, "failed: ServerException"},
		"too often": {recorder{status: 400, body: `{"__type":"ThrottlingException"}`},
			"has had too many requests: ThrottlingException"},
		"too often for a proxy": {recorder{status: 429}, "has had too many requests: 429 too many requests"},
		"by a proxy": {recorder{status: 403, body: "<html>go away</html>"},
			"refused the access key: 403 forbidden;"},
		"by a broken proxy": {recorder{status: 502}, "failed: 502 bad gateway"},
		"with nonsense": {recorder{status: 400, body: `{"__type":"key AKIAEXAMPLE"}`},
			"refused the access key: an unreadable error;"},
		"with success": {recorder{status: 200, body: `<html>`}, "answered with no authorization"},
		"with nothing": {recorder{status: 200, body: `{"authorizationData":[]}`}, "answered with no authorization"},
		"with a broken token": {recorder{status: 200, body: `{"authorizationData":[{"authorizationToken":"%"}]}`},
			"answered with an authorization that cannot be read"},
		"at length": {recorder{status: 200, body: strings.Repeat(" ", maxResponse+1)}, "answered with far too much"},
	} {
		t.Run(name, func(t *testing.T) {
			o := Options{Region: "eu-west-1", AccessKeyID: "AKIAEXAMPLE", SecretAccessKey: "secret"}
			_, _, err := ownAPI(o, &test.response).authorization(t.Context())
			if err == nil || !strings.HasPrefix(err.Error(), "the ECR API in eu-west-1 "+test.want) {
				t.Errorf("error %v, want %q", err, test.want)
			}
		})
	}
}
