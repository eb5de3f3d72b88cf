package ecr

import (
	"encoding/base64"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/credentials"
	"github.com/aws/aws-sdk-go-v2/service/ecr"
)

// endpoint is a local stand-in for the ECR API that keeps what it is asked.
type endpoint struct {
	until time.Time
	asked []string
}

func (e *endpoint) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	body, _ := io.ReadAll(r.Body)
	// The signature covers headers that the SDK adds about itself; its scope does not.
	scope, _, _ := strings.Cut(r.Header.Get("Authorization"), ", SignedHeaders")
	e.asked = append(e.asked, strings.Join([]string{
		r.Method, r.URL.Path, r.Header.Get("X-Amz-Target"), r.Header.Get("Content-Type"), string(body), scope,
	}, "\n"))
	token := base64.StdEncoding.EncodeToString([]byte("AWS:lent-for-twelve-hours"))
	w.Header().Set("Content-Type", "application/x-amz-json-1.1")
	fmt.Fprintf(w, `{"authorizationData":[{"authorizationToken":%q,"expiresAt":%d,"proxyEndpoint":"https://example.test"}]}`, token, e.until.Unix())
}

// The AWS SDK's own client asks the same endpoint the same question and reads
// the same answer; in the program it would keep megabytes in every process.
func TestAsksAndReadsAsTheSDKDoes(t *testing.T) {
	e := &endpoint{until: time.Now().Add(12 * time.Hour).Truncate(time.Second)}
	server := httptest.NewServer(e)
	defer server.Close()
	address, err := url.Parse(server.URL)
	if err != nil {
		t.Fatal(err)
	}

	o := Options{Region: "eu-west-1", AccessKeyID: "AKIAEXAMPLE", SecretAccessKey: "secret", Endpoint: address}
	ours, until, err := newAPI(o, http.DefaultClient).authorization(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	client := ecr.New(ecr.Options{
		Region: o.Region, BaseEndpoint: aws.String(server.URL), HTTPClient: http.DefaultClient, Retryer: aws.NopRetryer{},
		Credentials: credentials.NewStaticCredentialsProvider(o.AccessKeyID, o.SecretAccessKey, ""),
	})
	theirs, err := client.GetAuthorizationToken(t.Context(), &ecr.GetAuthorizationTokenInput{})
	if err != nil {
		t.Fatal(err)
	}

	if len(e.asked) != 2 || e.asked[0] != e.asked[1] {
		t.Errorf("asked differently:\n%s", strings.Join(e.asked, "\n--\n"))
	}
	data := theirs.AuthorizationData[0]
	token, err := base64.StdEncoding.DecodeString(aws.ToString(data.AuthorizationToken))
	if err != nil || string(token) != ours.Username+":"+ours.Password {
		t.Errorf("read %q where the SDK reads %q (%v)", ours, token, err)
	}
	if !until.Equal(aws.ToTime(data.ExpiresAt)) {
		t.Errorf("it ends at %s where the SDK reads %s", until, data.ExpiresAt)
	}
}
