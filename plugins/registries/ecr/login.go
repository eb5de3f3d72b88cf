package ecr

import (
	"context"
	"encoding/base64"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"sync"
	"time"
	"unicode"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/credentials"
	"github.com/aws/aws-sdk-go-v2/service/ecr"
	"github.com/aws/smithy-go"
	smithyhttp "github.com/aws/smithy-go/transport/http"

	"github.com/dogwatch/dogwatch/plugins/registries/internal/oci"
	"github.com/dogwatch/dogwatch/sdk"
)

const (
	// margin is how long before its end an authorization is renewed. AWS gives them for 12 hours.
	margin = 5 * time.Minute
	// least is how old an authorization must be before a refusal is blamed on it:
	// a fresh one is refused because the user may not read the repository.
	least = time.Minute
)

// login trades the access key for what the registry accepts, and keeps it.
type login struct {
	client *ecr.Client
	region string
	// turn is held by the one call that asks AWS.
	turn chan struct{}

	mu      sync.Mutex
	current sdk.Credentials
	since   time.Time
	until   time.Time
}

func newLogin(o Options, client interface {
	Do(*http.Request) (*http.Response, error)
}) oci.Login {
	settings := ecr.Options{
		Region:      o.Region,
		Credentials: credentials.NewStaticCredentialsProvider(o.AccessKeyID, o.SecretAccessKey, ""),
		HTTPClient:  client,
		Retryer:     aws.NopRetryer{}, // the next check asks again
	}
	if o.Endpoint != nil {
		settings.BaseEndpoint = aws.String(o.Endpoint.String())
	}
	return &login{client: ecr.New(settings), region: o.Region, turn: make(chan struct{}, 1)}
}

// Credentials implements oci.Login.
func (l *login) Credentials(ctx context.Context, host string) (sdk.Credentials, error) {
	if strings.EqualFold(host, gallery) {
		return sdk.Credentials{}, nil
	}
	if c, ok := l.valid(); ok {
		return c, nil
	}
	select {
	case l.turn <- struct{}{}:
	case <-ctx.Done():
		return sdk.Credentials{}, ctx.Err()
	}
	defer func() { <-l.turn }()
	if c, ok := l.valid(); ok {
		return c, nil
	}
	return l.renew(ctx)
}

func (l *login) valid() (sdk.Credentials, bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.current, time.Now().Before(l.until)
}

// renew asks AWS
// (https://docs.aws.amazon.com/AmazonECR/latest/APIReference/API_GetAuthorizationToken.html).
func (l *login) renew(ctx context.Context) (sdk.Credentials, error) {
	out, err := l.client.GetAuthorizationToken(ctx, &ecr.GetAuthorizationTokenInput{})
	switch {
	case errors.Is(err, context.Canceled), errors.Is(err, context.DeadlineExceeded):
		return sdk.Credentials{}, fmt.Errorf("ask the ECR API in %s: %w", l.region, err)
	case err != nil:
		return sdk.Credentials{}, l.explain(err)
	}
	if len(out.AuthorizationData) == 0 {
		return sdk.Credentials{}, l.odd("no authorization")
	}
	data := out.AuthorizationData[0]
	decoded, err := base64.StdEncoding.DecodeString(aws.ToString(data.AuthorizationToken))
	user, password, found := strings.Cut(string(decoded), ":")
	if err != nil || !found {
		return sdk.Credentials{}, l.odd("an authorization that cannot be read")
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	l.current = sdk.Credentials{Username: user, Password: password}
	l.since = time.Now()
	l.until = aws.ToTime(data.ExpiresAt).Add(-margin)
	return l.current, nil
}

// Refused implements oci.Login.
func (l *login) Refused(used sdk.Credentials) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.current != used {
		return true
	}
	if time.Since(l.since) < least {
		return false
	}
	l.until = time.Time{}
	return true
}

func (l *login) odd(what string) error {
	return sdk.WithKind(sdk.ErrUnavailable, fmt.Errorf("the ECR API in %s answered with %s", l.region, what))
}

// explain says in few words what AWS says in many, without its request ids.
func (l *login) explain(err error) error {
	var refusal smithy.APIError
	var answer *smithyhttp.ResponseError
	switch {
	case errors.As(err, &refusal):
		return l.kinded(errorCode(refusal), refusal.ErrorFault() == smithy.FaultServer)
	case errors.As(err, &answer) && answer.HTTPStatusCode() > 0:
		// Not an answer of the API: perhaps of a proxy in between.
		status := answer.HTTPStatusCode()
		return l.kinded(fmt.Sprintf("%d %s", status, strings.ToLower(http.StatusText(status))), status >= 500 || status < 400)
	}
	// A failure of the connection, which the HTTP client has explained.
	var operation *smithy.OperationError
	if errors.As(err, &operation) {
		err = operation.Err
	}
	return sdk.WithKind(sdk.ErrUnavailable, fmt.Errorf("ask the ECR API in %s: %w", l.region, err))
}

// errorCode is the name of an AWS error; whatever else a server writes there is not repeated.
func errorCode(refusal smithy.APIError) string {
	code := refusal.ErrorCode()
	if len(code) > 60 || strings.ContainsFunc(code, func(c rune) bool { return !unicode.IsLetter(c) && !unicode.IsDigit(c) }) {
		return "an unreadable error"
	}
	return code
}

func (l *login) kinded(code string, server bool) error {
	switch {
	case strings.Contains(code, "Throttl"), strings.Contains(code, "TooManyRequests"), strings.HasPrefix(code, "429 "):
		return sdk.RateLimited(0, fmt.Errorf("the ECR API in %s has had too many requests: %s", l.region, code))
	case server:
		return sdk.WithKind(sdk.ErrUnavailable, fmt.Errorf("the ECR API in %s failed: %s", l.region, code))
	}
	return sdk.WithKind(sdk.ErrUnauthorized, fmt.Errorf("the ECR API in %s refused the access key: %s; check region, accesskeyid and secretaccesskey, and that its user may call ecr:GetAuthorizationToken", l.region, code))
}
