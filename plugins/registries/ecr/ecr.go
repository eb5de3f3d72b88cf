// Package ecr is the registry type of the Amazon Elastic Container Registry:
// private registries of an account, and the public gallery.
package ecr

import (
	"net/url"
	"strings"

	"github.com/dogwatch/dogwatch/plugins/registries/internal/oci"
	"github.com/dogwatch/dogwatch/sdk"
	"github.com/dogwatch/dogwatch/sdk/httpclient"
	"github.com/dogwatch/dogwatch/sdk/kind"
	"github.com/dogwatch/dogwatch/sdk/registry"
)

// Options configures one ECR registry. Without a region it serves the public
// gallery; with one it serves all private registries, and without keys it finds
// credentials as AWS's own tools do.
type Options struct {
	Region          string   `option:"region" help:"AWS region of the private registries, such as eu-west-1; those of other regions are asked too, each region with a token of its own" example:"eu-west-1"`
	AccessKeyID     string   `option:"accesskeyid,secret" help:"Access key of an AWS user that may read the repositories; without one, credentials are found as AWS's own tools find them: AWS_ variables, a web identity, a profile (its role, process or single sign-on), the role of the task, pod or instance" example:"key-id"`
	SecretAccessKey string   `option:"secretaccesskey,secret" help:"Secret of the access key" example:"secret"`
	Profile         string   `option:"profile" help:"Profile of AWS's shared configuration to take credentials from; in a container, mount the folder .aws into its home, writable for profiles with single sign-on, whose tokens are renewed there"`
	RoleARN         string   `option:"rolearn" help:"Role to take before the registries are asked, such as arn:aws:iam::123456789012:role/reader"`
	AccountID       string   `option:"accountid" help:"AWS account of the private registries, 12 digits; those of other accounts are asked too, unless another instance has their accountid"`
	Public          bool     `option:"public" help:"Serve public.ecr.aws too, which needs no keys"`
	Mirror          *url.URL `option:"mirror,alias=url" help:"Mirror or pull-through cache to use instead of the registries of region, and of accountid if given; it receives the credentials if it asks for them"`
	Endpoint        *url.URL `option:"endpoint" help:"Address of the ECR API of region, such as that of a VPC endpoint"`
	httpclient.Options
}

// Type returns the type; its instances use what shared knows.
func Type(shared *oci.Shared) registry.Type {
	return registry.Define("ecr", "Amazon Elastic Container Registry",
		func(env sdk.Env, o Options) (*oci.Registry, error) {
			if err := o.check(); err != nil {
				return nil, err
			}
			hosts, err := o.hosts()
			if err != nil {
				return nil, err
			}
			c := oci.Config{
				Hosts: hosts, Keys: "region, accesskeyid and secretaccesskey",
				PublicImage: gallery + "/docker/library/hello-world:latest",
			}
			if o.private() {
				client, err := httpclient.New(env, o.Options, o.AccessKeyID, o.SecretAccessKey)
				if err != nil {
					return nil, err
				}
				c.Login = newLogin(o, client)
			}
			return shared.Open(env, o.Options, c, o.AccessKeyID, o.SecretAccessKey)
		}, kind.Default("public"), kind.Docs("https://docs.aws.amazon.com/AmazonECR/latest/userguide/registry_auth.html"))
}

func (o Options) check() error {
	var problems []sdk.FieldError
	wrong := func(field, detail string) { problems = append(problems, sdk.FieldError{Field: field, Detail: detail}) }
	if o.Region == "" && o.private() {
		wrong("region", "is required: private registries are those of a region")
	}
	if o.AccessKeyID == "" && o.SecretAccessKey != "" {
		wrong("accesskeyid", "is required with secretaccesskey")
	}
	if o.SecretAccessKey == "" && o.AccessKeyID != "" {
		wrong("secretaccesskey", "is required with accesskeyid")
	}
	if o.Profile != "" && (o.AccessKeyID != "" || o.SecretAccessKey != "") {
		wrong("profile", "cannot be combined with accesskeyid and secretaccesskey; keep one of them")
	}
	if o.RoleARN != "" && !strings.HasPrefix(o.RoleARN, "arn:") {
		wrong("rolearn", "is not the ARN of a role, such as arn:aws:iam::123456789012:role/reader")
	}
	if !isRegion(o.Region) {
		wrong("region", "is not the name of an AWS region, such as eu-west-1")
	}
	if o.AccountID != "" && (len(o.AccountID) != 12 || strings.Trim(o.AccountID, "0123456789") != "") {
		wrong("accountid", "must be the 12 digits of an AWS account")
	}
	if problems != nil {
		return &sdk.InvalidError{Fields: problems}
	}
	return nil
}

// private reports whether anything about private registries is configured.
func (o Options) private() bool {
	return o.Region != "" || o.AccessKeyID != "" || o.SecretAccessKey != "" || o.AccountID != "" || o.Profile != "" ||
		o.RoleARN != ""
}
