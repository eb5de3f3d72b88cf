package registry

import "testing"

func TestHostServes(t *testing.T) {
	for _, test := range []struct {
		pattern, host string
		want          bool
	}{
		{"ghcr.io", "ghcr.io", true},
		{"ghcr.io", "GHCR.io", true},
		{"Registry.example.com:5000", "registry.example.com:5000", true},
		{"ghcr.io", "www.ghcr.io", false},
		{"ghcr.io", "ghcr.io:443", false},
		{"*", "anything.example.com:5000", true},
		{"*", "localhost", true},
		{"*", "", false},
		{"*.example.com", "a.example.com", true},
		{"*.example.com", "a.b.example.com", true},
		{"*.example.com", "example.com", false},
		{"*.example.com", ".example.com", false},
		{"*.example.com", "badexample.com", false},
		{"*loose.org", "tight-loose.org", false},
		{"*.dkr.ecr.*.amazonaws.com", "123456789012.dkr.ecr.eu-west-1.amazonaws.com", true},
		{"*.dkr.ecr.*.amazonaws.com", "123456789012.dkr.ecr.amazonaws.com", false},
		{"*.dkr.ecr.*.amazonaws.com", "123456789012.dkr.ecr.a.b.amazonaws.com", false},
		{"*.dkr.ecr.*.amazonaws.com", "123456789012.dkr.ecr..amazonaws.com", false},
		{"*.dkr.ecr.*.amazonaws.com", "dkr.ecr.eu-west-1.amazonaws.com", false},
		{"*.dkr.ecr.*.amazonaws.com", "123456789012.dkr.ecr.eu-west-1.amazonaws.com.evil.test", false},
		{"*.dkr.ecr.*.amazonaws.com", "bucket.s3.eu-west-1.amazonaws.com", false},
		{"123456789012.dkr.ecr.*.amazonaws.com", "123456789012.dkr.ecr.eu-west-1.amazonaws.com", true},
		{"123456789012.dkr.ecr.*.amazonaws.com", "210987654321.dkr.ecr.eu-west-1.amazonaws.com", false},
	} {
		if got := (Host{Pattern: test.pattern}).Serves(test.host); got != test.want {
			t.Errorf("%s serves %q: %v", test.pattern, test.host, got)
		}
	}
}
