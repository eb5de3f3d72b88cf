package ecr

import (
	"cmp"
	"context"
	"net"
	"net/http"
	"os"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/config"
	"github.com/aws/aws-sdk-go-v2/credentials"
	"github.com/aws/aws-sdk-go-v2/credentials/ec2rolecreds"
	"github.com/aws/aws-sdk-go-v2/credentials/endpointcreds"
	"github.com/aws/aws-sdk-go-v2/credentials/processcreds"
	"github.com/aws/aws-sdk-go-v2/credentials/stscreds"
	"github.com/aws/aws-sdk-go-v2/feature/ec2/imds"
	"github.com/aws/aws-sdk-go-v2/service/signin"
	"github.com/aws/aws-sdk-go-v2/service/sso"
	"github.com/aws/aws-sdk-go-v2/service/ssooidc"
	"github.com/aws/aws-sdk-go-v2/service/sts"
)

const (
	// sessionName is how roles that are taken appear in AWS's logs.
	sessionName = "dogwatch"
	// localTimeout bounds a request to a service of the machine itself. Where
	// there is none, a request may just get no response.
	localTimeout = 5 * time.Second
	dialTimeout  = time.Second
	// processTimeout bounds a credential_process.
	processTimeout = 20 * time.Second
)

// chain finds credentials where the AWS SDKs find them, in their order
// (https://docs.aws.amazon.com/sdkref/latest/guide/standardized-credentials.html):
// variables, a web identity, a profile with all it may name, single sign-on
// among it, the container's endpoint, the instance. It keeps nothing:
// credentials are needed twice a day, and may change meanwhile.
type chain struct {
	region string
	// profile is the one to use; then no variable comes before it.
	profile string
	client  doer
}

// Env are the variables that credentials for AWS are found by.
func Env() []string {
	return []string{
		"AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY", "AWS_SESSION_TOKEN",
		"AWS_PROFILE", "AWS_CONFIG_FILE", "AWS_SHARED_CREDENTIALS_FILE", "AWS_LOGIN_CACHE_DIRECTORY",
		"AWS_WEB_IDENTITY_TOKEN_FILE", "AWS_ROLE_ARN", "AWS_ROLE_SESSION_NAME",
		"AWS_ENDPOINT_URL_STS", "AWS_ENDPOINT_URL_SSO", "AWS_ENDPOINT_URL_SSO_OIDC", "AWS_ENDPOINT_URL_SIGNIN",
		"AWS_CONTAINER_CREDENTIALS_RELATIVE_URI", "AWS_CONTAINER_CREDENTIALS_FULL_URI",
		"AWS_CONTAINER_AUTHORIZATION_TOKEN", "AWS_CONTAINER_AUTHORIZATION_TOKEN_FILE",
		"AWS_EC2_METADATA_DISABLED", "AWS_EC2_METADATA_SERVICE_ENDPOINT", "AWS_EC2_METADATA_SERVICE_ENDPOINT_MODE",
	}
}

// provider returns what finds the credentials for AWS.
func (o Options) provider(client doer) aws.CredentialsProvider {
	c := chain{region: o.Region, profile: o.Profile, client: client}
	var keys aws.CredentialsProvider = c
	if o.AccessKeyID != "" {
		keys = credentials.NewStaticCredentialsProvider(o.AccessKeyID, o.SecretAccessKey, "")
	}
	if o.RoleARN != "" {
		return c.role(keys, o.RoleARN)
	}
	return keys
}

// Retrieve implements aws.CredentialsProvider.
func (c chain) Retrieve(ctx context.Context) (aws.Credentials, error) {
	found, err := c.load(ctx)
	if err != nil {
		return aws.Credentials{}, c.missing(err, found)
	}
	keys, err := found.Credentials.Retrieve(ctx)
	if err != nil {
		return aws.Credentials{}, c.missing(err, found)
	}
	return keys, nil
}

// load reads what is configured for AWS's tools; most of it is not used yet.
func (c chain) load(ctx context.Context) (aws.Config, error) {
	options := []func(*config.LoadOptions) error{
		config.WithRegion(c.region),
		config.WithServiceOptions(c.through),
		config.WithRetryer(func() aws.Retryer { return aws.NopRetryer{} }), // the host retries when that can help
		config.WithProcessCredentialOptions(func(o *processcreds.Options) { o.Timeout = processTimeout }),
		config.WithAssumeRoleCredentialOptions(func(o *stscreds.AssumeRoleOptions) {
			o.RoleSessionName = cmp.Or(o.RoleSessionName, sessionName)
		}),
		config.WithWebIdentityRoleCredentialOptions(func(o *stscreds.WebIdentityRoleOptions) {
			o.RoleSessionName = cmp.Or(o.RoleSessionName, sessionName)
		}),
		config.WithEndpointCredentialOptions(func(o *endpointcreds.Options) {
			o.HTTPClient, o.Retryer = localClient(), aws.NopRetryer{}
		}),
		config.WithEC2RoleCredentialOptions(func(o *ec2rolecreds.Options) { o.Client = metadata() }),
	}
	if c.profile != "" {
		options = append(options, config.WithSharedConfigProfile(c.profile))
	}
	return config.LoadDefaultConfig(ctx, options...)
}

// through lets the clients that the SDK makes send through c.client. As the HTTP
// client of all of them the SDK would refuse it wherever a profile names a
// ca_bundle, which it can pass to its own client only.
func (c chain) through(_ string, options any) {
	switch o := options.(type) {
	case *sts.Options:
		o.HTTPClient = bounded{c.client}
	case *sso.Options:
		o.HTTPClient = bounded{c.client}
	case *ssooidc.Options:
		o.HTTPClient = bounded{c.client}
	case *signin.Options:
		o.HTTPClient = bounded{c.client}
	}
}

// role takes the role of the options with the credentials that keys gives. Its
// service is at AWS_ENDPOINT_URL_STS where that is set, as a VPC may want it.
func (c chain) role(keys aws.CredentialsProvider, arn string) aws.CredentialsProvider {
	o := sts.Options{Region: c.region, HTTPClient: bounded{c.client}, Credentials: keys, Retryer: aws.NopRetryer{}}
	if address := os.Getenv("AWS_ENDPOINT_URL_STS"); address != "" {
		o.BaseEndpoint = aws.String(address)
	}
	taken := stscreds.NewAssumeRoleProvider(sts.New(o), arn, func(o *stscreds.AssumeRoleOptions) {
		o.RoleSessionName = sessionName
	})
	return explained{taken, tokenService(arn, "check rolearn, and that the role trusts whose credentials these are")}
}

// metadata is a client of the metadata service of the EC2 instance.
func metadata() *imds.Client {
	o := imds.Options{HTTPClient: localClient(), Retryer: aws.NopRetryer{}}
	// Another value than the two that exist means the first.
	_ = o.EndpointMode.SetFromString(os.Getenv("AWS_EC2_METADATA_SERVICE_ENDPOINT_MODE"))
	return imds.New(o)
}

// localClient is for services of the machine itself, past any proxy.
func localClient() *http.Client {
	return &http.Client{
		Timeout: localTimeout,
		Transport: &http.Transport{
			DialContext: (&net.Dialer{Timeout: dialTimeout}).DialContext, DisableKeepAlives: true,
			TLSHandshakeTimeout: localTimeout, MaxResponseHeaderBytes: maxResponse,
		},
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}
}

// explained is a provider whose errors are those of a service.
type explained struct {
	aws.CredentialsProvider
	about service
}

func (e explained) Retrieve(ctx context.Context) (aws.Credentials, error) {
	keys, err := e.CredentialsProvider.Retrieve(ctx)
	if err != nil {
		err = &keysError{e.about.explain(err)}
	}
	return keys, err
}
