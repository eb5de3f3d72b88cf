package ecr

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"time"
	"unicode"

	"github.com/aws/aws-sdk-go-v2/aws"
	v4 "github.com/aws/aws-sdk-go-v2/aws/signer/v4"

	"github.com/dogwatch/dogwatch/sdk"
	"github.com/dogwatch/dogwatch/sdk/httpclient"
)

// maxAnswer is more than an authorization takes, which is some 3 KiB.
const maxAnswer = 64 << 10

// doer sends a request; see httpclient.Client.
type doer interface {
	Do(*http.Request) (*http.Response, error)
}

// api is the one call of the ECR API that is needed. The AWS SDK signs it; the
// SDK's client of ECR would keep megabytes in every process of the program.
type api struct {
	client  doer
	key     aws.Credentials
	region  string
	address string
}

func newAPI(o Options, client doer) api {
	address := &url.URL{Scheme: "https", Host: "api.ecr." + o.Region + "." + o.suffix(), Path: "/"}
	if o.Endpoint != nil {
		address = o.Endpoint.JoinPath("/")
	}
	return api{
		client: client, region: o.Region, address: address.String(),
		key: aws.Credentials{AccessKeyID: o.AccessKeyID, SecretAccessKey: o.SecretAccessKey},
	}
}

// authorization returns what the account's registries accept, and until when
// (https://docs.aws.amazon.com/AmazonECR/latest/APIReference/API_GetAuthorizationToken.html).
func (a api) authorization(ctx context.Context) (sdk.Credentials, time.Time, error) {
	var answer struct {
		AuthorizationData []struct {
			AuthorizationToken string  `json:"authorizationToken"`
			ExpiresAt          float64 `json:"expiresAt"` // seconds since 1970
		} `json:"authorizationData"`
	}
	body, err := a.call(ctx, "GetAuthorizationToken")
	if err != nil {
		return sdk.Credentials{}, time.Time{}, err
	}
	if json.Unmarshal(body, &answer) != nil || len(answer.AuthorizationData) == 0 {
		return sdk.Credentials{}, time.Time{}, a.odd("no authorization")
	}
	data := answer.AuthorizationData[0]
	decoded, err := base64.StdEncoding.DecodeString(data.AuthorizationToken)
	user, password, found := strings.Cut(string(decoded), ":")
	if err != nil || !found {
		return sdk.Credentials{}, time.Time{}, a.odd("an authorization that cannot be read")
	}
	return sdk.Credentials{Username: user, Password: password}, time.Unix(int64(data.ExpiresAt), 0), nil
}

// call makes a call without arguments and returns its answer
// (https://smithy.io/2.0/aws/protocols/aws-json-1_1-protocol.html).
func (a api) call(ctx context.Context, operation string) ([]byte, error) {
	req, err := httpclient.NewRequest(ctx, http.MethodPost, a.address)
	if err != nil {
		return nil, err
	}
	body := []byte("{}")
	httpclient.SetBody(req, "application/x-amz-json-1.1", body)
	req.Header.Set("X-Amz-Target", "AmazonEC2ContainerRegistry_V20150921."+operation)
	sum := sha256.Sum256(body)
	if err := v4.NewSigner().SignHTTP(ctx, a.key, req, hex.EncodeToString(sum[:]), "ecr", a.region, time.Now()); err != nil {
		return nil, fmt.Errorf("sign a request to the ECR API in %s: %w", a.region, err)
	}
	resp, err := a.client.Do(req)
	if err != nil {
		return nil, a.broken(err)
	}
	defer resp.Body.Close()
	answer, err := httpclient.ReadAll(resp, maxAnswer)
	switch {
	case errors.Is(err, httpclient.ErrTooLarge):
		return nil, a.odd("far too much")
	case err != nil:
		return nil, a.broken(err)
	case resp.StatusCode != http.StatusOK:
		return nil, a.refusal(resp, answer)
	}
	return answer, nil
}

// broken tells of a failure of the connection, which the HTTP client has explained.
func (a api) broken(err error) error {
	err = fmt.Errorf("ask the ECR API in %s: %w", a.region, err)
	if errors.Is(err, context.Canceled) || errors.Is(err, context.DeadlineExceeded) {
		return err
	}
	return sdk.WithKind(sdk.ErrUnavailable, err)
}

func (a api) odd(what string) error {
	return sdk.WithKind(sdk.ErrUnavailable, fmt.Errorf("the ECR API in %s answered with %s", a.region, what))
}

// refusal says in few words what AWS says in many, without its request ids.
func (a api) refusal(resp *http.Response, body []byte) error {
	code := errorCode(resp.Header, body)
	if code == "" { // not an answer of the API: perhaps of a proxy in between
		code = fmt.Sprintf("%d %s", resp.StatusCode, strings.ToLower(http.StatusText(resp.StatusCode)))
	}
	switch {
	case strings.Contains(code, "Throttl"), strings.Contains(code, "TooManyRequests"), resp.StatusCode == http.StatusTooManyRequests:
		return sdk.RateLimited(0, fmt.Errorf("the ECR API in %s has had too many requests: %s", a.region, code))
	case resp.StatusCode >= 500, resp.StatusCode < 400:
		return sdk.WithKind(sdk.ErrUnavailable, fmt.Errorf("the ECR API in %s failed: %s", a.region, code))
	}
	return sdk.WithKind(sdk.ErrUnauthorized, fmt.Errorf("the ECR API in %s refused the access key: %s; check region, accesskeyid and secretaccesskey, and that its user may call ecr:GetAuthorizationToken", a.region, code))
}

// errorCode is the name of an AWS error, which may stand in several places,
// between a namespace and a URL; "" when there is none. Whatever else a server
// writes there is not repeated.
func errorCode(h http.Header, body []byte) string {
	var named struct {
		Code string `json:"code"`
		Type string `json:"__type"`
	}
	_ = json.Unmarshal(body, &named) // what is no JSON names no error
	code, _, _ := strings.Cut(cmp.Or(h.Get("X-Amzn-ErrorType"), named.Code, named.Type), ":")
	code = code[strings.IndexByte(code, '#')+1:]
	if len(code) > 60 || strings.ContainsFunc(code, func(c rune) bool { return !unicode.IsLetter(c) && !unicode.IsDigit(c) }) {
		return "an unreadable error"
	}
	return code
}
