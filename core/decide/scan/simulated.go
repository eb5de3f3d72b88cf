package scan

import (
	"cmp"
	"context"
	"fmt"
	"hash/fnv"
	"slices"
	"time"

	"github.com/dogwatch/dogwatch/core/decide/vulnerability"
	"github.com/dogwatch/dogwatch/internal/backoff"
)

// Simulated is a scanner that makes up findings, where the engine and the registries are
// simulated. The same image has the same ones.
type Simulated struct {
	// Time is how long the scan of an image takes.
	Time time.Duration
}

// Scan returns findings by the digest of an image.
func (s Simulated) Scan(ctx context.Context, image Image) (vulnerability.Report, error) {
	if err := backoff.Wait(ctx, s.Time); err != nil {
		return vulnerability.Report{}, err
	}
	hash := fnv.New32a()
	_, _ = hash.Write([]byte(image.Digest)) // never fails
	seed := int(hash.Sum32() % 1000)
	r := vulnerability.Report{Scanner: vulnerability.Trivy, Images: []string{image.Reference}}
	for i, p := range []string{"openssl", "zlib1g", "libxml2", "curl", "perl-base", "golang.org/x/net", "tar", "busybox"} {
		if (seed>>i)&1 == 0 {
			continue
		}
		severity := vulnerability.Severities()[(i+seed)%5]
		r.Findings = append(r.Findings, vulnerability.Finding{
			ID: fmt.Sprintf("CVE-2026-%04d", 1000+100*i+seed%7), Severity: severity, Package: p,
			Installed: fmt.Sprintf("1.%d.0", i), Fixed: fmt.Sprintf("1.%d.%d", i, 1+seed%9),
		})
	}
	slices.SortStableFunc(r.Findings, func(a, b vulnerability.Finding) int { return cmp.Compare(b.Severity, a.Severity) })
	return r, nil
}
