package ecr

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"strings"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	v4 "github.com/aws/aws-sdk-go-v2/aws/signer/v4"
	"github.com/aws/smithy-go"
	smithyhttp "github.com/aws/smithy-go/transport/http"

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

// authorizationTarget is the one action of the API that is needed. The SDK's client
// of it brings all others along, which takes 2 MB of the program.
const authorizationTarget = "AmazonEC2ContainerRegistry_V20150921.GetAuthorizationToken"

// endpointSuffixes are the ends of the API's addresses by partition
// (https://docs.aws.amazon.com/general/latest/gr/ecr.html).
var endpointSuffixes = map[string]string{
	"aws": "amazonaws.com", "aws-cn": "amazonaws.com.cn", "aws-eusc": "amazonaws.eu",
}

// api requests the authorizations that the registries of a region accept.
type api struct {
	endpoint, region string
	keys             aws.CredentialsProvider
	client           doer
	about            service
}

// newAPI returns the API of a region, with the credentials of keys. The
// endpoint of the options is that of their own region only.
func newAPI(o Options, region string, keys aws.CredentialsProvider, client doer) api {
	endpoint := fmt.Sprintf("https://api.ecr.%s.%s/", region, endpointSuffixes[partitionOf(region)])
	check := "check "
	if region == o.Region {
		check = "check region, "
		if o.Endpoint != nil {
			endpoint = strings.TrimSuffix(o.Endpoint.String(), "/") + "/"
		}
	}
	about := service{
		name: "the ECR API in " + region, shown: "the access key",
		remedy: check + "accesskeyid and secretaccesskey, and that its user may call ecr:GetAuthorizationToken",
	}
	if o.AccessKeyID == "" || o.RoleARN != "" {
		about.shown, about.remedy = "the credentials", check+"and that whose they are may call ecr:GetAuthorizationToken"
	}
	return api{endpoint: endpoint, region: region, keys: keys, client: bounded{client}, about: about}
}

// authorization returns what the region's registries accept, of whatever account
// they are that lets the keys read, and until when
// (https://docs.aws.amazon.com/AmazonECR/latest/APIReference/API_GetAuthorizationToken.html).
func (a api) authorization(ctx context.Context) (sdk.Credentials, time.Time, error) {
	body, err := a.call(ctx)
	if err != nil {
		return sdk.Credentials{}, time.Time{}, a.about.explain(err)
	}
	var response struct {
		AuthorizationData []struct {
			AuthorizationToken string
			ExpiresAt          float64 // seconds since 1970
		}
	}
	if json.Unmarshal(body, &response) != nil || len(response.AuthorizationData) == 0 {
		return sdk.Credentials{}, time.Time{}, a.about.odd("no authorization")
	}
	data := response.AuthorizationData[0]
	decoded, err := base64.StdEncoding.DecodeString(data.AuthorizationToken)
	user, password, found := strings.Cut(string(decoded), ":")
	if err != nil || !found {
		return sdk.Credentials{}, time.Time{}, a.about.odd("an authorization that cannot be read")
	}
	return sdk.Credentials{Username: user, Password: password}, time.UnixMilli(int64(data.ExpiresAt * 1000)), nil
}

// call sends the request, signed with the keys, and returns the body of a
// success. Its errors are of the types of the SDK
// (https://smithy.io/2.0/aws/protocols/aws-json-1_1-protocol.html).
func (a api) call(ctx context.Context) ([]byte, error) {
	const body = "{}"
	keys, err := a.keys.Retrieve(ctx)
	if err != nil {
		return nil, err
	}
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, a.endpoint, strings.NewReader(body))
	if err != nil {
		return nil, err
	}
	req.Header.Set("Content-Type", "application/x-amz-json-1.1")
	req.Header.Set("X-Amz-Target", authorizationTarget)
	sum := sha256.Sum256([]byte(body))
	if err := v4.NewSigner().SignHTTP(ctx, keys, req, hex.EncodeToString(sum[:]), "ecr", a.region,
		time.Now()); err != nil {
		return nil, err
	}
	resp, err := a.client.Do(req)
	if err != nil {
		return nil, &smithyhttp.RequestSendError{Err: err}
	}
	read, err := io.ReadAll(resp.Body) // in memory already
	if err == nil && resp.StatusCode != http.StatusOK {
		err = &smithyhttp.ResponseError{
			Response: &smithyhttp.Response{Response: resp},
			Err:      &smithy.GenericAPIError{Code: errorCode(resp.Header, read)},
		}
	}
	return read, err
}

// errorCode returns the name of an error, without namespace and URL; "" when it has none
// (https://smithy.io/2.0/aws/protocols/aws-json-1_1-protocol.html#operation-error-serialization).
func errorCode(header http.Header, body []byte) string {
	var response struct {
		Type string `json:"__type"`
		Code string `json:"code"`
	}
	_ = json.Unmarshal(body, &response) // a proxy's page has no name
	for _, name := range []string{header.Get("X-Amzn-Errortype"), response.Code, response.Type} {
		name, _, _ = strings.Cut(name, ":")
		if name = name[strings.LastIndexByte(name, '#')+1:]; name != "" {
			return name
		}
	}
	return ""
}
