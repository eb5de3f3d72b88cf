package web

import (
	"context"
	"errors"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/dogwatch/dogwatch/core/decide/candidate"
	"github.com/dogwatch/dogwatch/core/decide/policy"
	policypreview "github.com/dogwatch/dogwatch/core/decide/preview"
	"github.com/dogwatch/dogwatch/core/serve/service"
	"github.com/dogwatch/dogwatch/core/serve/web/webtest"
	"github.com/dogwatch/dogwatch/sdk"
)

// fakePolicies decides about constant subjects.
type fakePolicies struct {
	subjects []policypreview.Subject
	err      error
}

func (f fakePolicies) PreviewPolicies(_ context.Context, rules []string) (service.PolicyPreview, error) {
	p := service.PolicyPreview{Now: policypreview.Of(f.subjects, webtest.Noon)}
	if f.err != nil || len(rules) == 0 {
		return p, f.err
	}
	changed, err := policypreview.With(f.subjects, rules, time.UTC, webtest.Noon)
	if err != nil {
		return p, &service.RuleError{Err: err}
	}
	tried := policypreview.Of(changed, webtest.Noon)
	p.Tried = &tried
	return p, nil
}

// policySubjects are a container with a young update, and one with a window.
func policySubjects(t *testing.T) []policypreview.Subject {
	t.Helper()
	of := func(name string, age time.Duration) policypreview.Subject {
		return policypreview.Subject{Running: "1.0",
			Update: policy.Update{Subject: "local/" + name, Candidates: []candidate.Candidate{
				{Tag: "1.1", Kind: sdk.KindTag, Diff: sdk.DiffMinor, Created: webtest.Noon.Add(-age)}}}}
	}
	young, shut := of("young", 48*time.Hour), of("shut", 480*time.Hour)
	if err := shut.Rules.Set(policy.RuleWindow, "0 3 29 2 *", "label dogwatch.update.window", time.UTC); err != nil {
		t.Fatal(err)
	}
	return []policypreview.Subject{young, shut, {Running: "1.0", Update: policy.Update{Subject: "local/current"}}}
}

func TestPoliciesPage(t *testing.T) {
	u := withFakes(t, func(f *fakeService) { f.fakePolicies.subjects = policySubjects(t) })
	_, body := get(t, u, "/policies")
	webtest.Contains(t, body, "1 offered, 1 held, 1 without an update", `href="/base/containers/local/shut"`,
		"It waits for the next update window (0 3 29 2 * for 1h UTC) until ",
		"Next windows",
		"<td class=\"wrap\">label dogwatch.update.window</td><td>1 held</td>",
		`<option value="minage">minage: minimum age</option>`)
	if strings.Contains(body, "local/current") || strings.Contains(body, "With this rule") {
		t.Errorf("it shows a container without an update, or a rule that is not tried: %s", body)
	}

	_, body = get(t, u, "/policies?rule=minage&value=7d")
	webtest.Contains(t, body, "With this rule</dt><dd><strong>2 held, 1 without an update", `<option value="minage" selected>minage`,
		`value="7d"`, "held</span> <span class=\"second\">instead of offered</span>", "must be 7 days old, so it waits until ")
	if err := fakes(u).fakePolicies.subjects[0].Rules.Set(policy.RuleMinAge, "6w", "policies.careful.minage", time.UTC); err != nil {
		t.Fatal(err)
	}
	_, body = get(t, u, "/policies")
	webtest.Contains(t, body, `<td class="wrap">minimum age 42 days</td>`)
}

func TestPoliciesPageOfUnreadableRules(t *testing.T) {
	u := withFakes(t, func(f *fakeService) { f.fakePolicies.subjects = policySubjects(t) })
	for query, want := range map[string]string{
		"rule=minage&value=7": "&#34;7&#34; has no unit", "rule=minags&value=7d": "did you mean minage?",
		"rule=window&value=Sat": "does not say from when until when",
	} {
		code, body := get(t, u, "/policies?"+query)
		if code != http.StatusBadRequest {
			t.Errorf("%s: status %d", query, code)
		}
		webtest.Contains(t, body, want, "1 offered, 1 held")
	}
	fakes(u).fakePolicies.err = errors.New("disk is full")
	if code, _ := get(t, u, "/policies"); code != http.StatusInternalServerError {
		t.Errorf("of a store that fails: status %d", code)
	}
}
