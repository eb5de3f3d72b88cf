package sdk_test

import (
	"encoding/json"
	"reflect"
	"testing"
	"time"

	"github.com/dogwatch/dogwatch/sdk"
	"github.com/dogwatch/dogwatch/sdk/triggertest"
)

func TestTimeText(t *testing.T) {
	paris := time.FixedZone("CET", 3600)
	for _, c := range []struct {
		at   time.Time
		want string
	}{
		{time.Date(2024, 1, 2, 4, 4, 5, 678_999_999, paris), "2024-01-02T03:04:05.678Z"},
		{time.Date(2024, 1, 2, 3, 4, 5, 0, time.UTC), "2024-01-02T03:04:05.000Z"},
		{time.Time{}, ""},
	} {
		at := sdk.TimeOf(c.at)
		if got := at.String(); got != c.want {
			t.Errorf("got %q, want %q", got, c.want)
		}
		b, err := json.Marshal(at)
		if err != nil || string(b) != `"`+c.want+`"` {
			t.Errorf("as JSON: got %s, %v", b, err)
		}
		var read sdk.Time
		if err := json.Unmarshal(b, &read); err != nil || read != at {
			t.Errorf("read back: got %v, %v", read, err)
		}
	}
}

func TestTimeFromJSON(t *testing.T) {
	want := sdk.TimeOf(time.Date(2024, 1, 2, 3, 4, 5, 0, time.UTC))
	for text, want := range map[string]sdk.Time{
		`"2024-01-02T03:04:05Z"`:           want,
		`"2024-01-02T04:04:05+01:00"`:      want,
		`"2024-01-02T03:04:05.000999999Z"`: want,
		`""`:                               {},
		`null`:                             {},
	} {
		got := sdk.TimeOf(time.Unix(1, 0))
		if err := json.Unmarshal([]byte(text), &got); err != nil || got != want {
			t.Errorf("%s: got %v, %v", text, got, err)
		}
	}
	for _, text := range []string{`"yesterday"`, `"2024-01-02"`, `17`, `{}`} {
		var got sdk.Time
		if err := json.Unmarshal([]byte(text), &got); err == nil {
			t.Errorf("%s is taken for %v", text, got)
		}
	}
}

// What does not apply is absent, never null: clients do not expect null.
func TestContainerJSONHasNoNull(t *testing.T) {
	b, err := json.Marshal(sdk.Container{ID: "1", Name: "n", Watcher: "local"})
	if err != nil {
		t.Fatal(err)
	}
	if want := `{"id":"1","name":"n","watcher":"local","updateAvailable":false}`; string(b) != want {
		t.Errorf("got %s", b)
	}
}

func TestContainerJSONRoundTrips(t *testing.T) {
	want := triggertest.Container("nginx")
	want.Error = &sdk.ContainerError{Message: "m"}
	want.UpdateKind.Result = &sdk.Result{Link: "https://example.org"}
	b, err := json.Marshal(want)
	if err != nil {
		t.Fatal(err)
	}
	var got sdk.Container
	if err := json.Unmarshal(b, &got); err != nil {
		t.Fatal(err)
	}
	if !reflect.DeepEqual(got, want) {
		t.Errorf("got %+v\nwant %+v", got, want)
	}
}

func TestPlatform(t *testing.T) {
	i := sdk.Image{OS: "linux", Architecture: "arm", Variant: "v7"}
	if got := i.Platform(); got != (sdk.Platform{OS: "linux", Architecture: "arm", Variant: "v7"}) {
		t.Errorf("got %+v", got)
	}
}
