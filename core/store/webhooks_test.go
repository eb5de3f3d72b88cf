package store

import (
	"slices"
	"testing"

	"github.com/dogwatch/dogwatch/core/watch/webhook"
)

// TestPushedIsKeptOnce: repositories are kept until they are removed, each once, and over a restart.
func TestPushedIsKeptOnce(t *testing.T) {
	s := fresh(t)
	app, same, team := webhook.Image{Host: "ghcr.io", Name: "team/app"}, webhook.Image{Name: "team/app"}, webhook.Image{
		Host: "ghcr.io", Name: "team/app", Project: true,
	}
	for range 2 {
		if err := s.AddPushed(t.Context(), []webhook.Image{team, app, same}); err != nil {
			t.Fatal(err)
		}
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	s = open(t, s.path)
	if got, err := s.Pushed(t.Context()); err != nil || !slices.Equal(got, []webhook.Image{same, app, team}) {
		t.Errorf("kept %+v, %v", got, err)
	}
	if err := s.RemovePushed(t.Context(), []webhook.Image{same, team, {Name: "other"}}); err != nil {
		t.Fatal(err)
	}
	if got, err := s.Pushed(t.Context()); err != nil || !slices.Equal(got, []webhook.Image{app}) {
		t.Errorf("left %+v, %v", got, err)
	}
}
