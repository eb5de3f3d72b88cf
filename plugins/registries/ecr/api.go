package ecr

import (
	"bytes"
	"context"
	"encoding/base64"
	"io"
	"net/http"
	"strings"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/ecr"

	"github.com/dogwatch/dogwatch/sdk"
	"github.com/dogwatch/dogwatch/sdk/httpclient"
)

// maxResponse is more than an authorization takes, which is some 3 KiB.
const maxResponse = 64 << 10

// doer sends a request; see httpclient.Client.
type doer interface {
	Do(*http.Request) (*http.Response, error)
}

// bounded is a doer that reads responses to their end, within maxResponse.
type bounded struct{ doer }

func (b bounded) Do(req *http.Request) (*http.Response, error) {
	// The SDK names much of the machine; the HTTP client sets its own.
	req.Header.Del("User-Agent")
	resp, err := b.doer.Do(req)
	if err != nil {
		return nil, err
	}
	defer resp.Body.Close()
	body, err := httpclient.ReadAll(resp, maxResponse)
	if err != nil {
		return nil, err
	}
	resp.Body = io.NopCloser(bytes.NewReader(body))
	return resp, nil
}

// api requests the authorizations that the registries of a region accept.
type api struct {
	client *ecr.Client
	about  service
}

// newAPI returns the API of a region, with the credentials of keys. The
// endpoint of the options is that of their own region only.
func newAPI(o Options, region string, keys aws.CredentialsProvider, client doer) api {
	options := ecr.Options{
		Region: region, HTTPClient: bounded{client}, Credentials: keys,
		Retryer: aws.NopRetryer{}, // the host retries when that can help
	}
	check := "check "
	if region == o.Region {
		check = "check region, "
		if o.Endpoint != nil {
			options.BaseEndpoint = aws.String(o.Endpoint.String())
		}
	}
	about := service{name: "the ECR API in " + region, shown: "the access key", remedy: check + "accesskeyid and secretaccesskey, and that its user may call ecr:GetAuthorizationToken"}
	if o.AccessKeyID == "" || o.RoleARN != "" {
		about.shown, about.remedy = "the credentials", check+"and that whose they are may call ecr:GetAuthorizationToken"
	}
	return api{client: ecr.New(options), about: about}
}

// authorization returns what the region's registries accept, of whatever account
// they are that lets the keys read, and until when
// (https://docs.aws.amazon.com/AmazonECR/latest/APIReference/API_GetAuthorizationToken.html).
func (a api) authorization(ctx context.Context) (sdk.Credentials, time.Time, error) {
	response, err := a.client.GetAuthorizationToken(ctx, &ecr.GetAuthorizationTokenInput{})
	if err != nil {
		return sdk.Credentials{}, time.Time{}, a.about.explain(err)
	}
	if len(response.AuthorizationData) == 0 {
		return sdk.Credentials{}, time.Time{}, a.about.odd("no authorization")
	}
	data := response.AuthorizationData[0]
	decoded, err := base64.StdEncoding.DecodeString(aws.ToString(data.AuthorizationToken))
	user, password, found := strings.Cut(string(decoded), ":")
	if err != nil || !found {
		return sdk.Credentials{}, time.Time{}, a.about.odd("an authorization that cannot be read")
	}
	return sdk.Credentials{Username: user, Password: password}, aws.ToTime(data.ExpiresAt), nil
}
