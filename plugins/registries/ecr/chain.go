package ecr

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/netip"
	"net/url"
	"os"
	"strings"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/credentials"
	"github.com/aws/aws-sdk-go-v2/credentials/ec2rolecreds"
	"github.com/aws/aws-sdk-go-v2/credentials/endpointcreds"
	"github.com/aws/aws-sdk-go-v2/credentials/processcreds"
	"github.com/aws/aws-sdk-go-v2/credentials/stscreds"
	"github.com/aws/aws-sdk-go-v2/feature/ec2/imds"
	"github.com/aws/aws-sdk-go-v2/service/sts"

	"github.com/dogwatch/dogwatch/sdk"
)

const (
	// sessionName is how roles that are taken appear in AWS's logs.
	sessionName = "dogwatch"
	// localTimeout bounds a question to a service of the machine itself. Where
	// there is none, the network may say so by silence only.
	localTimeout = 5 * time.Second
	dialTimeout  = time.Second
	// processTimeout bounds a credential_process.
	processTimeout = 20 * time.Second
)

// chain finds credentials where the AWS SDKs find them, in their order
// (https://docs.aws.amazon.com/sdkref/latest/guide/standardized-credentials.html):
// variables, a web identity, a profile, the container's endpoint, the instance.
// It keeps nothing: credentials are needed twice a day, and may change meanwhile.
//
// The providers are the SDK's. Its package config, which puts them together,
// also brings the clients of single sign-on, with megabytes of tables in every
// process of the program; so what is configured is read here.
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
		"AWS_PROFILE", "AWS_CONFIG_FILE", "AWS_SHARED_CREDENTIALS_FILE",
		"AWS_WEB_IDENTITY_TOKEN_FILE", "AWS_ROLE_ARN", "AWS_ROLE_SESSION_NAME", "AWS_ENDPOINT_URL_STS",
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
		keys = c.role(keys, profile{"role_arn": o.RoleARN}, "check rolearn, and that the role trusts whose credentials these are")
	}
	return keys
}

// Retrieve implements aws.CredentialsProvider.
func (c chain) Retrieve(ctx context.Context) (aws.Credentials, error) {
	p, err := c.find()
	if err != nil {
		return aws.Credentials{}, &keysError{err}
	}
	return p.Retrieve(ctx)
}

func (c chain) find() (aws.CredentialsProvider, error) {
	if c.profile != "" {
		return c.fromProfile(c.profile, true, 0)
	}
	if keys := variables(); keys.HasKeys() {
		return credentials.StaticCredentialsProvider{Value: keys}, nil
	}
	if file := os.Getenv("AWS_WEB_IDENTITY_TOKEN_FILE"); file != "" {
		return c.webIdentity(profile{
			"web_identity_token_file": file, "role_arn": os.Getenv("AWS_ROLE_ARN"), "role_session_name": os.Getenv("AWS_ROLE_SESSION_NAME"),
		}, "AWS_ROLE_ARN")
	}
	name := os.Getenv("AWS_PROFILE")
	return c.fromProfile(cmp.Or(name, "default"), name != "", 0)
}

func variables() aws.Credentials {
	return aws.Credentials{
		AccessKeyID: os.Getenv("AWS_ACCESS_KEY_ID"), SecretAccessKey: os.Getenv("AWS_SECRET_ACCESS_KEY"), SessionToken: os.Getenv("AWS_SESSION_TOKEN"),
	}
}

// maxProfiles bounds how many profiles may lead from one to the next.
const maxProfiles = 5

// fromProfile returns what a profile of the shared files names; see profile.go.
func (c chain) fromProfile(name string, must bool, depth int) (aws.CredentialsProvider, error) {
	p, err := readProfile(name)
	switch {
	case err != nil:
		return nil, err
	case p == nil && must:
		return nil, unauthorized("there is no profile %q in the AWS configuration (%s)", name, strings.Join(sharedFiles(), ", "))
	case depth == maxProfiles:
		return nil, unauthorized("the AWS profile %q leads through more than %d others", name, maxProfiles)
	}
	keys, err := c.of(p, name, depth)
	if err != nil || p["role_arn"] == "" || p["web_identity_token_file"] != "" {
		return keys, err
	}
	if p["mfa_serial"] != "" {
		return nil, unauthorized("the AWS profile %q asks for a second factor, which nobody is there to give", name)
	}
	return c.role(keys, p, fmt.Sprintf("check the role of the AWS profile %q, and whom it trusts", name)), nil
}

func (c chain) of(p profile, name string, depth int) (aws.CredentialsProvider, error) {
	source := p["source_profile"]
	switch {
	case p["role_arn"] != "" && source != "" && source != name:
		return c.fromProfile(source, true, depth+1)
	case p["aws_access_key_id"] != "" && p["aws_secret_access_key"] != "":
		return credentials.NewStaticCredentialsProvider(p["aws_access_key_id"], p["aws_secret_access_key"], p["aws_session_token"]), nil
	case p["role_arn"] != "" && p["credential_source"] != "":
		return c.fromSource(p["credential_source"], name)
	case p["web_identity_token_file"] != "":
		return c.webIdentity(p, fmt.Sprintf("role_arn of the AWS profile %q", name))
	case p["sso_session"] != "", p["sso_start_url"] != "", p["login_session"] != "":
		return nil, unauthorized("the AWS profile %q uses single sign-on, which needs a person; give it a credential_process, such as aws configure export-credentials --format process --profile …", name)
	case p["credential_process"] != "":
		return explained{
			processcreds.NewProvider(p["credential_process"], func(o *processcreds.Options) { o.Timeout = processTimeout }),
			func(error) error {
				return unauthorized("the credential_process of the AWS profile %q gave no credentials", name)
			},
		}, nil
	case os.Getenv("AWS_CONTAINER_CREDENTIALS_RELATIVE_URI") != "", os.Getenv("AWS_CONTAINER_CREDENTIALS_FULL_URI") != "":
		return c.container()
	}
	return instance(), nil
}

// fromSource returns what credential_source names.
func (c chain) fromSource(source, name string) (aws.CredentialsProvider, error) {
	switch source {
	case "Environment":
		if keys := variables(); keys.HasKeys() {
			return credentials.StaticCredentialsProvider{Value: keys}, nil
		}
		return nil, unauthorized("the AWS profile %q takes its credentials from AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY, which are not set", name)
	case "EcsContainer":
		return c.container()
	case "Ec2InstanceMetadata":
		return instance(), nil
	}
	return nil, unauthorized("the credential_source of the AWS profile %q must be Environment, EcsContainer or Ec2InstanceMetadata", name)
}

// sts returns a client of the token service, which is where roles are taken. It
// asks where AWS_ENDPOINT_URL_STS says, as a VPC may want it.
func (c chain) sts(keys aws.CredentialsProvider) *sts.Client {
	o := sts.Options{Region: c.region, HTTPClient: bounded{c.client}, Credentials: keys, Retryer: aws.NopRetryer{}}
	if address := os.Getenv("AWS_ENDPOINT_URL_STS"); address != "" {
		o.BaseEndpoint = aws.String(address)
	}
	return sts.New(o)
}

// role takes the role of a profile with the credentials that keys gives.
func (c chain) role(keys aws.CredentialsProvider, p profile, remedy string) aws.CredentialsProvider {
	taken := stscreds.NewAssumeRoleProvider(c.sts(keys), p["role_arn"], func(o *stscreds.AssumeRoleOptions) {
		o.RoleSessionName = cmp.Or(p["role_session_name"], sessionName)
		if id := p["external_id"]; id != "" {
			o.ExternalID = aws.String(id)
		}
	})
	return explained{taken, service{name: "the AWS token service", shown: "to give the role " + p["role_arn"], remedy: remedy}.explain}
}

// webIdentity takes a role with a token in a file, as Kubernetes puts one there.
func (c chain) webIdentity(p profile, roleKey string) (aws.CredentialsProvider, error) {
	if p["role_arn"] == "" {
		return nil, unauthorized("%s is required with a web identity token file", roleKey)
	}
	file := stscreds.IdentityTokenFile(p["web_identity_token_file"])
	if _, err := file.GetIdentityToken(); err != nil {
		return nil, unauthorized("read the web identity token for AWS: %w", err)
	}
	taken := stscreds.NewWebIdentityRoleProvider(c.sts(aws.AnonymousCredentials{}), p["role_arn"], file, func(o *stscreds.WebIdentityRoleOptions) {
		o.RoleSessionName = cmp.Or(p["role_session_name"], sessionName)
	})
	return explained{taken, service{name: "the AWS token service", shown: "to give the role " + p["role_arn"], remedy: "check that the role trusts the web identity"}.explain}, nil
}

// containerHost serves the credentials of tasks on ECS.
const containerHost = "http://169.254.170.2"

// container asks the endpoint that ECS and EKS give to a container
// (https://docs.aws.amazon.com/sdkref/latest/guide/feature-container-credentials.html).
func (c chain) container() (aws.CredentialsProvider, error) {
	address := os.Getenv("AWS_CONTAINER_CREDENTIALS_FULL_URI")
	if path := os.Getenv("AWS_CONTAINER_CREDENTIALS_RELATIVE_URI"); path != "" {
		address = containerHost + path
	}
	u, err := url.Parse(address)
	if err != nil || u.Host == "" || !containerEndpoint(u) {
		return nil, unauthorized("AWS_CONTAINER_CREDENTIALS_FULL_URI must start with https://, or be an address of this machine or of the container service")
	}
	asked := endpointcreds.New(address, func(o *endpointcreds.Options) {
		o.HTTPClient, o.Retryer = localClient(), aws.NopRetryer{}
		o.AuthorizationToken = os.Getenv("AWS_CONTAINER_AUTHORIZATION_TOKEN")
		if file := os.Getenv("AWS_CONTAINER_AUTHORIZATION_TOKEN_FILE"); file != "" {
			o.AuthorizationTokenProvider = endpointcreds.TokenProviderFunc(func() (string, error) {
				token, err := os.ReadFile(file)
				return strings.TrimSpace(string(token)), err
			})
		}
	})
	about := service{name: "the credentials endpoint of the container", shown: "us", remedy: "check the AWS_CONTAINER_… variables, and the role of the task or pod"}
	return explained{asked, about.explain}, nil
}

// containerEndpoint reports whether an endpoint may be shown the container's
// token: one that nobody on the network can pretend to be.
func containerEndpoint(u *url.URL) bool {
	if u.Scheme == "https" {
		return true
	}
	a, err := netip.ParseAddr(u.Hostname())
	switch {
	case u.Scheme != "http":
		return false
	case err != nil:
		return u.Hostname() == "localhost"
	}
	services := map[string]bool{"169.254.170.2": true, "169.254.170.23": true, "fd00:ec2::23": true}
	return a.IsLoopback() || services[a.String()]
}

// instance asks the metadata service for the role of the EC2 instance.
func instance() aws.CredentialsProvider {
	o := imds.Options{HTTPClient: localClient(), Retryer: aws.NopRetryer{}}
	// Another value than the two that exist means the first.
	_ = o.EndpointMode.SetFromString(os.Getenv("AWS_EC2_METADATA_SERVICE_ENDPOINT_MODE"))
	asked := ec2rolecreds.New(func(p *ec2rolecreds.Options) { p.Client = imds.New(o) })
	return explained{asked, func(err error) error {
		if errors.Is(err, context.Canceled) {
			return context.Canceled
		}
		return unauthorized("there are no credentials for AWS: set accesskeyid and secretaccesskey, or give Dogwatch some in its environment, in a profile, or as the role of its task, pod or instance (whose metadata service gave none: %s)", metadataFailure(err))
	}}
}

func metadataFailure(err error) string {
	if status := statusOf(err); status != 0 {
		return codeOf(err)
	}
	return "it is not there or switched off"
}

// localClient asks services of the machine itself, which no proxy must see.
func localClient() *http.Client {
	return &http.Client{
		Timeout: localTimeout,
		Transport: &http.Transport{
			DialContext: (&net.Dialer{Timeout: dialTimeout}).DialContext, DisableKeepAlives: true,
			TLSHandshakeTimeout: localTimeout, MaxResponseHeaderBytes: maxAnswer,
		},
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}
}

// explained is a provider whose errors are explained.
type explained struct {
	aws.CredentialsProvider
	explain func(error) error
}

func (e explained) Retrieve(ctx context.Context) (aws.Credentials, error) {
	keys, err := e.CredentialsProvider.Retrieve(ctx)
	var known *keysError
	if err != nil && !errors.As(err, &known) {
		err = &keysError{e.explain(err)}
	}
	return keys, err
}

func unauthorized(format string, args ...any) error {
	return sdk.WithKind(sdk.ErrUnauthorized, fmt.Errorf(format, args...))
}
