package option_test

import (
	"net/url"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/dogwatch/dogwatch/sdk/option"
)

type level int

type tlsOptions struct {
	Verify bool `option:"verify" default:"true" help:"Verify certificates"`
}

type common struct {
	Timeout time.Duration `option:"timeout" default:"10s" help:"Per request"`
}

// all has a field of every sort.
type all struct {
	common
	URL      *url.URL   `option:"url" default:"https://ntfy.sh" help:"Server address"`
	Topic    string     `option:"topic,required" help:"Topic to publish to" example:"updates"`
	Token    string     `option:"token,secret,alias=pass|key" help:"Access token"`
	Mode     string     `option:"mode" default:"one" choices:"one,Two" help:"How"`
	Level    level      `option:"level" default:"3" min:"1" max:"5" help:"How loud"`
	Big      int64      `option:"big" help:"A number"`
	Ratio    float64    `option:"ratio" min:"0" help:"A ratio"`
	Percent  float64    `option:"percent" max:"100" help:"A percentage"`
	Tags     []string   `option:"tags" choices:"a,B" help:"Tags"`
	Maybe    *int       `option:"maybe" help:"A number or nothing"`
	Perhaps  *bool      `option:"perhaps" help:"Yes, no or nothing"`
	Old      string     `option:"old" deprecated:"use topic" help:"No more"`
	TLS      tlsOptions `option:"tls"`
	NoOption string
}

func TestSchema(t *testing.T) {
	s, err := option.Of[all]()
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, o := range s {
		names = append(names, o.Name+" "+string(o.Type))
	}
	want := []string{
		"timeout duration", "url url", "topic string", "token string", "mode string", "level int", "big int", "ratio float",
		"percent float", "tags list", "maybe int", "perhaps bool", "old string", "tls.verify bool",
	}
	if !reflect.DeepEqual(names, want) {
		t.Errorf("got %q", names)
	}
	token, ok := s.Find("key")
	if !ok || token.Name != "token" || !token.Secret || !reflect.DeepEqual(token.Aliases, []string{"pass", "key"}) {
		t.Errorf("by an alias: got %+v", token)
	}
	level, _ := s.Find("level")
	if *level.Min != 1 || *level.Max != 5 || *level.Default != "3" || level.Help != "How loud" {
		t.Errorf("got %+v", level)
	}
	if old, _ := s.Find("old"); old.Deprecated != "use topic" {
		t.Errorf("got %+v", old)
	}
	if topic, _ := s.Find("topic"); !topic.Required || topic.Default != nil || topic.Example != "updates" {
		t.Errorf("got %+v", topic)
	}
	if _, ok := s.Find("NoOption"); ok {
		t.Error("a field without a tag is an option")
	}
}

func TestSchemaRejectsMistakes(t *testing.T) {
	refused := func(want string, err error) {
		t.Helper()
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("got %v, want %q", err, want)
		}
	}
	type noHelp struct {
		A string `option:"a"`
	}
	_, err := option.Of[noHelp]()
	refused(`noHelp.A: option "a" has no help`, err)

	type upper struct {
		A string `option:"topicName" help:"x"`
	}
	_, err = option.Of[upper]()
	refused("use a-z and 0-9", err)

	type badAlias struct {
		A string `option:"a,alias=A_b" help:"x"`
	}
	_, err = option.Of[badAlias]()
	refused(`option name "A_b"`, err)

	type word struct {
		A string `option:"a,requird" help:"x"`
	}
	_, err = option.Of[word]()
	refused(`unknown word "requird"`, err)
	type unknownKey struct {
		A string `option:"a" help:"A: \"a\"" json:"a" enum:"red,green"`
	}
	_, err = option.Of[unknownKey]()
	refused(`unknown key "enum" in the tag: want one of option, help, default, choices`, err)

	type twice struct {
		A string `option:"a" help:"x"`
		B string `option:"b,alias=a" help:"x"`
	}
	_, err = option.Of[twice]()
	refused(`option "a" is declared twice`, err)

	type unexported struct {
		a string `option:"a" help:"x"`
	}
	_, err = option.Of[unexported]()
	refused("exported field", err)
	_ = unexported{a: ""}

	type badType struct {
		A map[string]string `option:"a" help:"x"`
	}
	_, err = option.Of[badType]()
	refused("cannot be a map[string]string", err)

	type badDefault struct {
		A int `option:"a" default:"many" help:"x"`
	}
	_, err = option.Of[badDefault]()
	refused("default: want a whole number", err)

	type badExample struct {
		A int `option:"a" help:"x" example:"many"`
	}
	_, err = option.Of[badExample]()
	refused("example: want a whole number", err)

	type needless struct {
		A int `option:"a,required" default:"1" help:"x"`
	}
	_, err = option.Of[needless]()
	refused("is required and has a default", err)

	type badMask struct {
		A string `option:"a,secret,mask=most" help:"x"`
	}
	_, err = option.Of[badMask]()
	refused(`unknown mask "most"`, err)

	type badBound struct {
		A int `option:"a" min:"few" help:"x"`
	}
	_, err = option.Of[badBound]()
	refused(`"few" is not a number`, err)

	type boundedText struct {
		A time.Duration `option:"a" min:"1" help:"x"`
	}
	_, err = option.Of[boundedText]()
	refused("min and max are for numbers", err)

	type chosenNumber struct {
		A int `option:"a" choices:"1,2" help:"x"`
	}
	_, err = option.Of[chosenNumber]()
	refused("choices are for texts", err)

	_, err = option.Of[int]()
	refused("must be a struct", err)

	type deep struct {
		TLS struct {
			Verify bool `option:"verify"`
		} `option:"tls"`
	}
	_, err = option.Of[deep]()
	refused(`option "tls.verify" has no help`, err)
}

func TestSuggest(t *testing.T) {
	known := []string{"threshold", "topic", "tls.verify", "token"}
	for name, want := range map[string]string{
		"treshold": "threshold", "thresohld": "threshold", "Topic": "topic", "tls.verfy": "tls.verify",
		"tokn": "token", "completelydifferent": "", "": "", "t": "",
	} {
		if got := option.Suggest(name, known); got != want {
			t.Errorf("%q: got %q, want %q", name, got, want)
		}
	}
	if got := option.Suggest("topic", nil); got != "" {
		t.Errorf("of nothing: got %q", got)
	}
}
