package config

import (
	"reflect"
	"strings"
	"testing"
)

func TestNamedPolicies(t *testing.T) {
	c, err := Load(Input{Environ: []string{"HOME=/home/ana", "DOGWATCH_POLICIES_CAREFUL_MINAGE=7d",
		"DOGWATCH_POLICIES_CAREFUL_UPDATE=approve", "DOGWATCH_POLICY_THRESHOLD=minor",
		"DOGWATCH_POLICIES_CAREFUL_MINAEG=1d", "DOGWATCH_POLICIES_MINAGE=1d",
		"DOGWATCH_POLICIES_NIGHT_WINDOW=Sat,Sun 02:00-05:00"}})
	if err != nil {
		t.Fatal(err)
	}
	want := map[string]Policy{"careful": {Update: "approve", MinAge: "7d"}, "night": {Window: "Sat,Sun 02:00-05:00"}}
	if !reflect.DeepEqual(c.Policies, want) || c.Policy.Threshold != "minor" {
		t.Errorf("policies %+v, policy %+v", c.Policies, c.Policy)
	}
	var text []string
	for _, p := range c.Problems {
		text = append(text, p.String())
	}
	all := strings.Join(text, "\n")
	for _, part := range []string{"DOGWATCH_POLICIES_CAREFUL_MINAEG", "did you mean DOGWATCH_POLICIES_CAREFUL_MINAGE?",
		"DOGWATCH_POLICIES_MINAGE", "write DOGWATCH_POLICIES_CAREFUL_MINAGE"} {
		if !strings.Contains(all, part) {
			t.Errorf("the problems do not say %q:\n%s", part, all)
		}
	}
	if len(c.Problems) != 2 {
		t.Errorf("%d problems:\n%s", len(c.Problems), all)
	}
}

// TestPolicyValuesNameEveryRule: a rule that is added to Policy is among its values.
func TestPolicyValuesNameEveryRule(t *testing.T) {
	var p Policy
	v := reflect.ValueOf(&p).Elem()
	for i := range v.NumField() {
		v.Field(i).SetString("x")
	}
	values := p.Values()
	for _, o := range policySchema() {
		if values[o.Name] != "x" {
			t.Errorf("%s is not among the values", o.Name)
		}
	}
}
