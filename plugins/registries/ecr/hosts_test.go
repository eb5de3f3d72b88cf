package ecr

import "testing"

func TestRegionOf(t *testing.T) {
	for host, want := range map[string]string{
		"123456789012.dkr.ecr.eu-west-1.amazonaws.com":          "eu-west-1",
		"123456789012.DKR.ECR.EU-West-1.amazonaws.com":          "eu-west-1",
		"123456789012.dkr.ecr-fips.us-gov-west-1.amazonaws.com": "us-gov-west-1",
		"123456789012.dkr.ecr.cn-north-1.amazonaws.com.cn":      "cn-north-1",
		"123456789012.dkr.ecr.eusc-de-east-1.amazonaws.eu":      "eusc-de-east-1",
		"123456789012.dkr-ecr.ap-south-1.on.aws":                "ap-south-1",
		"123456789012.dkr-ecr-fips.us-east-2.on.aws":            "us-east-2",
		"vpce-1.123456789012.dkr.ecr.eu-west-1.amazonaws.com":   "eu-west-1",

		gallery:                                  "",
		"dkr.ecr.eu-west-1.amazonaws.com":        "",
		"123456789012.dkr.ecr.amazonaws.com":     "",
		"bucket.s3.eu-west-1.amazonaws.com":      "",
		"1.dkr.ecr.eu_west.amazonaws.com":        "",
		"1.dkr.ecr.a.amazonaws.com.evil.test":    "",
		"1.dkr.ecr.eu-west-1.amazonaws.com:5000": "",
	} {
		got, ok := regionOf(host)
		if ok != (want != "") || ok && got != want {
			t.Errorf("%s: %q, %v; want %q", host, got, ok, want)
		}
	}
}
