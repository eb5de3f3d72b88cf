package ecr

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"strings"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/config"
	"github.com/aws/aws-sdk-go-v2/credentials"
	"github.com/aws/aws-sdk-go-v2/credentials/processcreds"
	"github.com/aws/smithy-go"

	"github.com/dogwatch/dogwatch/sdk"
)

// maxReason bounds what is repeated of the SDK's own words.
const maxReason = 200

// missing says why the chain gave no credentials, and what to do about it. found
// is what was configured, as far as that could be read.
func (c chain) missing(err error, found aws.Config) error {
	profile, role, login := c.wanted(found)
	var none config.SharedConfigProfileNotExistError
	var unread config.SharedConfigLoadError
	var process *processcreds.ProviderError
	var empty *credentials.StaticCredentialsEmptyError
	var second config.AssumeRoleTokenProviderNotSetError
	var circle config.SharedConfigAssumeRoleError
	var response smithy.APIError
	failed := innermost(err)
	switch {
	case errors.Is(err, context.Canceled):
		err = context.Canceled
	case errors.As(err, &none):
		err = unauthorized("there is no profile %q in the AWS configuration (%s)", none.Profile,
			strings.Join(none.Filename, ", "))
	case errors.As(err, &unread): // the SDK may repeat a line of the file, and with it a key
		err = unauthorized("read the AWS configuration %s: %s", unread.Filename,
			cmp.Or(fileReason(err), "it cannot be understood"))
	case errors.As(err, &process):
		err = unauthorized("the credential_process of the AWS profile %q gave no credentials", profile)
	case errors.As(err, &empty):
		err = unauthorized("the AWS profile %q takes its credentials from AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY, which are not set", profile)
	case errors.As(err, &second):
		err = unauthorized("the AWS profile %q asks for a second factor, which nobody is there to give", profile)
	case errors.As(err, &circle) && circle.Err == nil: // the SDK's way to say so
		err = unauthorized("the AWS profile %q takes its role by profiles that lead in a circle", circle.Profile)
	case os.Getenv("AWS_WEB_IDENTITY_TOKEN_FILE") != "" && role == "":
		err = unauthorized("AWS_ROLE_ARN is required with AWS_WEB_IDENTITY_TOKEN_FILE")
	case failed == "STS":
		err = tokenService(role, "check the role, and whom it trusts").explain(err)
	case failed == "ec2imds":
		err = unauthorized("there are no credentials for AWS: set accesskeyid and secretaccesskey, or give Dogwatch some in its environment, in a profile, or as the role of its task, pod or instance (whose metadata service gave none: %s)", metadataFailure(err))
	case login != "":
		err = signOn(profile, login, failed, err)
	case failed != "", errors.As(err, &response), statusOf(err) != 0:
		err = service{
			name: "the credentials endpoint of the container", shown: "us",
			remedy: "check the AWS_CONTAINER_… variables, and the role of the task or pod",
		}.explain(err)
	default:
		err = unauthorized("find credentials for AWS: %s", brief(err))
	}
	return &keysError{err}
}

// wanted returns the profile in use, the role that it or the environment names,
// and the command for an interactive login if the profile needs one.
func (c chain) wanted(found aws.Config) (profile, role, login string) {
	profile, role = cmp.Or(c.profile, os.Getenv("AWS_PROFILE"), "default"), os.Getenv("AWS_ROLE_ARN")
	for _, source := range found.ConfigSources {
		s, shared := source.(config.SharedConfig)
		if !shared {
			continue
		}
		profile, role = cmp.Or(s.Profile, profile), cmp.Or(s.RoleARN, role)
		for p := &s; p != nil && login == ""; p = p.Source {
			switch {
			case p.SSOSessionName != "", p.SSOStartURL != "":
				login = "aws sso login --profile " + cmp.Or(p.Profile, profile)
			case p.LoginSession != "":
				login = "aws login --profile " + cmp.Or(p.Profile, profile)
			}
		}
	}
	return profile, role, login
}

// tokenService is the AWS Security Token Service, which gives roles.
func tokenService(role, remedy string) service {
	return service{name: "the AWS token service", shown: strings.TrimSpace("to give the role " + role), remedy: remedy}
}

// signOn says why a profile with single sign-on gave no credentials.
// Its tokens are in files that AWS's command line wrote; they are renewed as long
// as the session lives, and then the user must log in again.
func signOn(profile, login, failed string, err error) error {
	remedy := "run " + login + " where its files are"
	if failed != "" {
		return service{
			name: "AWS single sign-on", shown: fmt.Sprintf("the session of the profile %q", profile), remedy: remedy,
		}.explain(err)
	}
	return unauthorized("the AWS profile %q is not logged in: %s; %s", profile, cmp.Or(fileReason(err), brief(err)),
		remedy)
}

func metadataFailure(err error) string {
	if statusOf(err) != 0 {
		return codeOf(err)
	}
	return "it is not there or switched off"
}

// innermost returns the service of the call that failed first: a request for a
// role fails as well when the instance has no credentials for it. It returns ""
// when no service was called.
func innermost(err error) (name string) {
	var call *smithy.OperationError
	for errors.As(err, &call) {
		name, err = call.Service(), call.Unwrap()
	}
	return name
}

// fileReason returns why a file could not be read, "" when that was not it.
func fileReason(err error) string {
	var path *fs.PathError
	if errors.As(err, &path) {
		return path.Error()
	}
	return ""
}

// brief returns the SDK's own words on one line.
func brief(err error) string {
	text := strings.Join(strings.Fields(err.Error()), " ")
	if len(text) > maxReason {
		text = strings.ToValidUTF8(text[:maxReason], "") + "…"
	}
	return text
}

func unauthorized(format string, args ...any) error {
	return sdk.WithKind(sdk.ErrUnauthorized, fmt.Errorf(format, args...))
}
