package cluster

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"time"

	"github.com/dogwatch/dogwatch/internal/lazyregexp"
	"github.com/dogwatch/dogwatch/sdk"
	"github.com/dogwatch/dogwatch/sdk/httpclient"
)

// ErrExpired means that the server does not remember a version of a list, or a page of it, any more: list again.
var ErrExpired = sdk.WithKind(sdk.ErrUnavailable, errors.New("the server does not remember that version any more"))

// DeniedError means that the account may not do something. It is an sdk.ErrUnauthorized.
type DeniedError struct {
	// User is the account as the server knows it: "system:serviceaccount:media:dogwatch"; "" where it does not say.
	User string
	// Verb is "list", "watch", "get" or "patch".
	Verb     string
	Resource Resource
}

func (e *DeniedError) Error() string {
	return fmt.Sprintf("%s %s: %s may not", e.Verb, e.Resource, cmp.Or(e.User, "the account"))
}

// Is implements errors.Is.
func (e *DeniedError) Is(target error) bool { return target == sdk.ErrUnauthorized }

// status is a document in which the API describes a failure:
// https://kubernetes.io/docs/reference/kubernetes-api/common-definitions/status/
type status struct {
	Message string `json:"message"`
	Reason  string `json:"reason"`
	Code    int    `json:"code"`
}

// maxStatus bounds a status, in bytes.
const maxStatus = 64 << 10

// patch is the verb of roles that lets an account change an object.
const patch = "patch"

// userForm finds the account in the message of a denial.
var userForm = lazyregexp.New(`^.{0,500}? is forbidden: User "([^"]{1,300})" cannot `)

// failure is the error of an answer that is none of success. It reads the body.
func (c *Client) failure(verb string, r Resource, resp *http.Response) error {
	var s status
	text, _ := io.ReadAll(io.LimitReader(resp.Body, maxStatus)) // what cannot be read explains nothing
	if json.Unmarshal(text, &s) != nil {
		s = status{}
	}
	s.Code = resp.StatusCode
	err := c.statusError(verb, r, s)
	if wait := httpclient.ParseRetryAfter(resp.Header, time.Now()); wait > 0 && sdk.Retryable(err) {
		return sdk.RateLimited(wait, err)
	}
	return err
}

// statusError is the error that a status means.
func (c *Client) statusError(verb string, r Resource, s status) error {
	says := httpclient.Clean(cmp.Or(s.Message, http.StatusText(s.Code)), c.secrets()...)
	err := fmt.Errorf("%s %s: %s answered %d: %s", verb, r, c.base.Host, s.Code, says)
	switch {
	case s.Code == http.StatusForbidden && (verb != patch || userForm().MatchString(s.Message)):
		denied := &DeniedError{Verb: verb, Resource: r}
		if found := userForm().FindStringSubmatch(s.Message); found != nil {
			denied.User = httpclient.Clean(found[1], c.secrets()...)
		}
		return denied
	case s.Code == http.StatusUnauthorized:
		return sdk.WithRemedy(sdk.WithKind(sdk.ErrUnauthorized, err),
			"the server does not know "+c.login+": renew it, or name another")
	case s.Code == http.StatusGone || s.Reason == "Expired":
		return fmt.Errorf("%s %s: %w", verb, r, ErrExpired)
	case s.Code == http.StatusNotFound:
		return sdk.WithKind(sdk.ErrNotFound,
			fmt.Errorf("%s %s: %s has no such resource in version %s, or is no API server of Kubernetes",
				verb, r, c.base.Host, r.Version))
	case s.Code == http.StatusConflict:
		return fmt.Errorf("%w: %w", err, ErrConflict)
	case s.Code == http.StatusTooManyRequests:
		return sdk.RateLimited(0, err)
	case s.Code == http.StatusBadRequest && r.Labels != "":
		return sdk.Invalid("selector", "the API server does not understand it: %s", says)
	case s.Code >= 400 && s.Code < 500:
		return sdk.Invalid("", "%v", err)
	}
	return sdk.WithKind(sdk.ErrUnavailable, err)
}

// unreachable is the error of a request without an answer, or of an answer that breaks off.
func (c *Client) unreachable(verb string, r Resource, err error) error {
	if errors.Is(err, context.Canceled) || errors.Is(err, sdk.ErrUnauthorized) {
		return err
	}
	var of *url.Error
	if errors.As(err, &of) { // whose text has the whole address
		err = of.Err
	}
	text := httpclient.Clean(err.Error(), c.secrets()...)
	return sdk.WithKind(sdk.ErrUnavailable, fmt.Errorf("%s %s: the API server at %s: %s", verb, r, c.base.Host, text))
}

// Denied is one error for all that an account may not do, whose remedy names the rules that its roles lack; nil for
// none. It is an sdk.ErrUnauthorized.
func Denied(all []*DeniedError) error {
	if len(all) == 0 {
		return nil
	}
	var verbs, what, users []string
	groups := map[string][]string{} // the resources of each API group
	namespaces := map[string]bool{}
	for _, d := range all {
		verbs, what = append(verbs, d.Verb), append(what, d.Resource.String())
		users = append(users, cmp.Or(d.User, "the account"))
		groups[d.Resource.Group] = append(groups[d.Resource.Group], d.Resource.Name)
		namespaces[d.Resource.Namespace] = true
	}
	text := fmt.Sprintf("%s may not %s %s", listed(users, " and "), listed(verbs, " or "), listed(what, ", "))
	granted := "list, watch"
	for _, verb := range []string{patch, "get"} {
		if slices.Contains(verbs, verb) {
			granted = verb
		}
	}
	var rules []string
	for _, group := range slices.Sorted(maps.Keys(groups)) {
		rules = append(rules, fmt.Sprintf(`{apiGroups: [%q], resources: [%s], verbs: [%s]}`,
			group, listed(groups[group], ", "), granted))
	}
	role := "a Role in namespace " + listed(slices.Collect(maps.Keys(namespaces)), " and in namespace ")
	if namespaces[""] {
		role = "a ClusterRole"
	}
	remedy := "add to the rules of " + role + " that is bound to it: " + strings.Join(rules, ", ")
	if namespaces[""] {
		remedy += "; or name in namespaces those that it may read"
	}
	return sdk.WithRemedy(sdk.WithKind(sdk.ErrUnauthorized, errors.New(text)), remedy)
}

// listed joins texts, each once, sorted.
func listed(all []string, separator string) string {
	slices.Sort(all)
	return strings.Join(slices.Compact(all), separator)
}
