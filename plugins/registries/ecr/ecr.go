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

// gallery is the host of public images, which are read without keys.
const gallery = "public.ecr.aws"

// Options configures one ECR registry. Without keys it serves the public gallery.
type Options struct {
	Region          string   `option:"region" help:"AWS region of the private registries, such as eu-west-1"`
	AccessKeyID     string   `option:"accesskeyid,secret" help:"Access key of an AWS user that may read the repositories"`
	SecretAccessKey string   `option:"secretaccesskey,secret" help:"Secret of the access key"`
	AccountID       string   `option:"accountid" help:"Serve only the registries of this AWS account, 12 digits"`
	Public          bool     `option:"public" help:"Serve public.ecr.aws too, which needs no keys"`
	URL             *url.URL `option:"url" help:"Pull-through cache or proxy to ask instead of the registry itself"`
	Endpoint        *url.URL `option:"endpoint" help:"Address of the ECR API, such as that of a VPC endpoint"`
	httpclient.Options
}

// Type returns the type; its instances use what shared knows.
func Type(shared *oci.Shared) registry.Type {
	return registry.Define("ecr", "Amazon Elastic Container Registry", func(env sdk.Env, o Options) (*oci.Registry, error) {
		if err := o.check(); err != nil {
			return nil, err
		}
		hosts, err := oci.Mirrored(o.URL, o.patterns()...)
		if err != nil {
			return nil, err
		}
		c := oci.Config{Hosts: hosts, Keys: "region, accesskeyid and secretaccesskey"}
		if o.AccessKeyID != "" {
			client, err := httpclient.New(env, o.Options, o.AccessKeyID, o.SecretAccessKey)
			if err != nil {
				return nil, err
			}
			c.Login = newLogin(o, client)
		}
		return shared.Open(env, o.Options, c, o.AccessKeyID, o.SecretAccessKey)
	}, kind.Default("public"))
}

func (o Options) check() error {
	keys := []struct{ name, value string }{{"region", o.Region}, {"accesskeyid", o.AccessKeyID}, {"secretaccesskey", o.SecretAccessKey}}
	var problems []sdk.FieldError
	for _, k := range keys {
		if k.value == "" && o.private() {
			problems = append(problems, sdk.FieldError{Field: k.name, Detail: "is required: private registries need region, accesskeyid and secretaccesskey"})
		}
	}
	if strings.Trim(o.Region, "abcdefghijklmnopqrstuvwxyz0123456789-") != "" {
		problems = append(problems, sdk.FieldError{Field: "region", Detail: "is not the name of an AWS region, such as eu-west-1"})
	}
	if o.AccountID != "" && (len(o.AccountID) != 12 || strings.Trim(o.AccountID, "0123456789") != "") {
		problems = append(problems, sdk.FieldError{Field: "accountid", Detail: "must be the 12 digits of an AWS account"})
	}
	if problems != nil {
		return &sdk.InvalidError{Fields: problems}
	}
	return nil
}

// private reports whether anything about private registries is configured.
func (o Options) private() bool {
	return o.Region != "" || o.AccessKeyID != "" || o.SecretAccessKey != "" || o.AccountID != ""
}

// patterns returns the hosts to serve
// (https://docs.aws.amazon.com/AmazonECR/latest/userguide/Registries.html).
func (o Options) patterns() []string {
	if !o.private() {
		return []string{gallery}
	}
	account, suffix := o.AccountID, o.suffix()
	if account == "" {
		account = "*"
	}
	list := []string{
		account + ".dkr.ecr." + o.Region + "." + suffix,
		account + ".dkr.ecr-fips." + o.Region + "." + suffix,
	}
	if o.Public {
		list = append(list, gallery)
	}
	return list
}

// suffix ends the names of all hosts of the region
// (https://docs.aws.amazon.com/general/latest/gr/ecr.html).
func (o Options) suffix() string {
	if strings.HasPrefix(o.Region, "cn-") {
		return "amazonaws.com.cn"
	}
	return "amazonaws.com"
}
