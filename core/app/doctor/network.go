package doctor

import (
	"cmp"
	"context"
	"crypto/tls"
	"fmt"
	"net"
	"net/http"
	"net/netip"
	"net/url"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/dogwatch/dogwatch/core/model/phrase"
	"github.com/dogwatch/dogwatch/internal/budget"
	"github.com/dogwatch/dogwatch/internal/contained"
	"github.com/dogwatch/dogwatch/internal/reference"
	"github.com/dogwatch/dogwatch/sdk"
	"github.com/dogwatch/dogwatch/sdk/registry"
)

const (
	// A clock that is off by so much is warned of; by more, certificates and
	// tokens, which are valid for minutes, are refused.
	oddClock   = 30 * time.Second
	wrongClock = 5 * time.Minute
	// slowLookup is how long a name may take before it is worth a warning.
	slowLookup = 2 * time.Second
)

// images examines what the images of containers need: labels that are
// understood, a clock that is right, hosts that respond and registries that grant access.
func (e *examination) images(ctx context.Context, containers []sdk.Container) []Finding {
	var hosts, registries []Finding
	var clocks []time.Duration
	// What was built here is asked about nowhere.
	pulled := slices.DeleteFunc(slices.Clone(containers), func(c sdk.Container) bool { return c.Image.Built })
	var wait sync.WaitGroup
	wait.Go(func() { hosts, clocks = e.hosts(ctx, pulled) })
	registries = e.registries(ctx, pulled)
	wait.Wait()
	return slices.Concat(e.labels(containers), clock(clocks), hosts, registries, e.budgets(ctx, pulled))
}

// transport reaches a host as registries do. What it says is of no consequence
// here, and a certificate that only the options of its registry make valid is none of
// this question: the registry itself is examined, too.
func transport(proxy func(*http.Request) (*url.URL, error)) http.RoundTripper {
	return &http.Transport{
		Proxy: proxy, DisableKeepAlives: true, TLSClientConfig: &tls.Config{InsecureSkipVerify: true},
		DialContext: (&net.Dialer{}).DialContext,
	}
}

// hosts asks every registry host in use for a sign of life, and returns how far
// their clocks are ahead of ours.
func (e *examination) hosts(ctx context.Context, containers []sdk.Container) ([]Finding, []time.Duration) {
	var mu sync.Mutex
	var clocks []time.Duration
	found := each(e.addresses(containers), func(base *url.URL) []Finding {
		subject := "host " + base.Host
		return e.within(ctx, subject, func(ctx context.Context) []Finding {
			f, ahead, known := e.host(ctx, subject, base)
			if known {
				mu.Lock()
				defer mu.Unlock()
				clocks = append(clocks, ahead)
			}
			return f
		})
	})
	mu.Lock()
	defer mu.Unlock()
	return found, slices.Clone(clocks)
}

// addresses are the bases of the APIs behind the images of containers.
func (e *examination) addresses(containers []sdk.Container) []*url.URL {
	var hosts []string
	for _, c := range containers {
		hosts = append(hosts, c.Image.Registry.Host)
	}
	configured := func(r Registry) bool { return !r.Default }
	if len(containers) == 0 && !slices.ContainsFunc(e.Installation.Registries(), configured) {
		hosts = []string{reference.DefaultDomain} // what most images will come from
	}
	known := map[string]*url.URL{}
	for _, host := range hosts {
		_, base, served := e.Installation.RegistryOf(host)
		if u, err := url.Parse(base); served && err == nil && u.Host != "" {
			known[u.Scheme+u.Host] = &url.URL{Scheme: u.Scheme, Host: u.Host, Path: "/v2/"}
		}
	}
	var all []*url.URL
	for _, u := range known {
		all = append(all, u)
	}
	slices.SortFunc(all, func(a, b *url.URL) int { return strings.Compare(a.Host+a.Scheme, b.Host+b.Scheme) })
	return all
}

func (e *examination) host(
	ctx context.Context, subject string, base *url.URL,
) (found []Finding, ahead time.Duration, known bool) {
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, base.String(), nil)
	if err != nil {
		return one(subject, Fail, err.Error(), ""), 0, false
	}
	req.Header.Set("User-Agent", "dogwatch/"+e.Version)
	detail, level, remedy := "", OK, ""
	proxy, err := e.Proxy(req)
	switch {
	case err != nil:
		return one(subject, Fail, "the proxy of the environment cannot be used: "+err.Error(), "correct HTTPS_PROXY"),
			0, false
	case proxy != nil:
		detail = "through the proxy " + proxy.Host + ", " // which looks names up itself
	default:
		took, err := e.lookup(ctx, base.Hostname())
		if err != nil {
			return one(subject, Fail, fmt.Sprintf("the name cannot be looked up: %v", err),
				"check the DNS of this machine or container (compose: dns:)"), 0, false
		}
		if took >= slowLookup {
			level, detail = Warn, fmt.Sprintf("looking the name up took %.1f s, ", took.Seconds())
			remedy = "check the DNS of this machine or container (compose: dns:)"
		}
	}
	began := e.Now()
	res, err := e.Transport.RoundTrip(req)
	if err != nil {
		remedy := "check the network, the firewall and HTTPS_PROXY of this machine or container"
		if text := contained.Explain(err.Error()); e.Contained && text != "" {
			remedy = text
		}
		return one(subject, Fail, detail+"cannot be reached: "+err.Error(), remedy), 0, false
	}
	res.Body.Close()
	took := e.Now().Sub(began)
	found = one(subject, level, fmt.Sprintf("%sanswers in %d ms", detail, took.Milliseconds()), remedy)
	theirs, err := http.ParseTime(res.Header.Get("Date"))
	if err != nil {
		return found, 0, false
	}
	// The header has whole seconds, which is precise enough for what is asked here.
	return found, theirs.Sub(began.Add(took / 2)), true
}

// lookup looks a name up, unless it is an address, and returns how long that took.
func (e *examination) lookup(ctx context.Context, host string) (time.Duration, error) {
	if _, err := netip.ParseAddr(host); err == nil {
		return 0, nil
	}
	began := e.Now()
	addresses, err := e.Lookup(ctx, host)
	if err == nil && len(addresses) == 0 {
		err = fmt.Errorf("%s has no address", host)
	}
	return e.Now().Sub(began), err
}

// clock compares our clock with those of the registries; the middle one counts,
// so that one that is wrong itself does not.
func clock(ahead []time.Duration) []Finding {
	const subject = "clock"
	if len(ahead) == 0 {
		return nil
	}
	slices.Sort(ahead)
	off := ahead[len(ahead)/2]
	direction := "behind"
	if off < 0 {
		direction = "ahead of"
	}
	by := off.Abs().Round(time.Second)
	detail := fmt.Sprintf("%s %s that of %s", by, direction, phrase.Count(len(ahead), "registry host"))
	const remedy = "set the clock of the machine by the network: timedatectl set-ntp true"
	switch {
	case by >= wrongClock:
		return one(subject, Fail, detail, remedy)
	case by >= oddClock:
		return one(subject, Warn, detail, remedy)
	}
	return one(subject, OK, "agrees with "+phrase.Count(len(ahead), "registry host").String(), "")
}

// limitsLeft says what is left of the limits of a registry, and whether that is little.
func limitsLeft(limits []registry.Limit, now time.Time) (text string, level Level, remedy string) {
	level = OK
	var parts []string
	slices.SortFunc(limits, func(a, b registry.Limit) int { return cmp.Compare(a.Host, b.Host) })
	for _, l := range limits {
		if l.PausedUntil.After(now) {
			level = Warn
			parts = append(parts, fmt.Sprintf("%s asks for patience until %s", l.Host, l.PausedUntil))
		}
		if l.Limit <= 0 {
			continue
		}
		what := "requests"
		if l.Pulls {
			what = "pulls"
		}
		part := fmt.Sprintf("%d of %d %s left", l.Remaining, l.Limit, what)
		if l.Window > 0 {
			part += " per " + budget.Length(l.Window)
		}
		if l.Remaining*10 <= l.Limit {
			level = Warn
		}
		parts = append(parts, part)
	}
	if level == Warn {
		remedy = "check less often (cron), or give the registry a login: those have larger limits"
	}
	return strings.Join(parts, ", "), level, remedy
}
