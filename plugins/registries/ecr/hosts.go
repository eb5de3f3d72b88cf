package ecr

import (
	"strings"

	"github.com/dogwatch/dogwatch/plugins/registries/internal/oci"
	"github.com/dogwatch/dogwatch/sdk/registry"
)

// gallery is the host of public images, which are read without keys.
const gallery = "public.ecr.aws"

// names are how the hosts of private registries are named, {account} and {region}
// being "*", by the partition of AWS that the region is in
// (https://docs.aws.amazon.com/general/latest/gr/ecr.html,
// https://docs.aws.amazon.com/AmazonECR/latest/userguide/ecr-requests.html).
var names = map[string][]string{
	"aws": {
		"*.dkr.ecr.*.amazonaws.com", "*.dkr.ecr-fips.*.amazonaws.com",
		"*.dkr-ecr.*.on.aws", "*.dkr-ecr-fips.*.on.aws",
	},
	"aws-cn":   {"*.dkr.ecr.*.amazonaws.com.cn"},
	"aws-eusc": {"*.dkr.ecr.*.amazonaws.eu"},
}

// partitions are the keys of names, in the order in which hosts are listed.
var partitions = []string{"aws", "aws-cn", "aws-eusc"}

func partitionOf(region string) string {
	switch {
	case strings.HasPrefix(region, "cn-"):
		return "aws-cn"
	case strings.HasPrefix(region, "eusc-"):
		return "aws-eusc"
	}
	return "aws"
}

// hosts returns what to serve: the registries that the options name, which are
// those that a mirror stands for, and then all others, so that none is left to
// anonymous access. Of several instances the one is used that names the account,
// else the one that names the region.
func (o Options) hosts() ([]registry.Host, error) {
	if !o.private() {
		return oci.Mirrored(o.Mirror, gallery)
	}
	var own, others []string
	for _, name := range names[partitionOf(o.Region)] {
		anyAccount := named(name, "*", o.Region)
		if o.AccountID == "" {
			own = append(own, anyAccount)
			continue
		}
		own = append(own, named(name, o.AccountID, o.Region))
		others = append(others, named(name, o.AccountID, "*"), anyAccount)
	}
	for _, partition := range partitions {
		others = append(others, names[partition]...)
	}
	if o.Public {
		own = append(own, gallery)
	}
	hosts, err := oci.Mirrored(o.Mirror, own...)
	return append(hosts, oci.At("", others...)...), err
}

func named(name, account, region string) string {
	return account + strings.Replace(strings.TrimPrefix(name, "*"), "*", region, 1)
}

// regionOf returns the region of a private registry; ok is false for any other host.
func regionOf(host string) (region string, ok bool) {
	for _, partition := range partitions {
		for _, name := range names[partition] {
			if !(registry.Host{Pattern: name}).Serves(host) {
				continue
			}
			// Counted from the end, for the "*" in front may be several labels.
			_, after, _ := strings.Cut(strings.TrimPrefix(name, "*"), "*")
			rest := strings.ToLower(host[:len(host)-len(after)])
			region = rest[strings.LastIndexByte(rest, '.')+1:]
			return region, isRegion(region)
		}
	}
	return "", false
}

func isRegion(text string) bool {
	return strings.Trim(text, "abcdefghijklmnopqrstuvwxyz0123456789-") == ""
}
