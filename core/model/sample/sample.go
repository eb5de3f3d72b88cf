// Package sample has containers with updates to try triggers and templates with.
package sample

import (
	"strings"
	"time"

	"github.com/dogwatch/dogwatch/sdk"
)

// Containers returns two containers with updates, as templates and tests of triggers see them.
func Containers() []sdk.Container {
	created := sdk.TimeOf(time.Date(2024, 5, 14, 9, 30, 0, 0, time.UTC))
	sample := func(id, name, repository, from, to, diff, link string) sdk.Container {
		return sdk.Container{
			ID: strings.Repeat(id, 64), Name: name, DisplayName: name, DisplayIcon: "mdi:docker", Status: "running",
			Watcher: "local",
			Image: sdk.Image{
				ID:       "sha256:" + strings.Repeat(id, 64),
				Registry: sdk.Registry{Name: "hub.public", URL: "https://registry-1.docker.io/v2", Host: "docker.io"},
				Name:     repository, Tag: sdk.Tag{Value: from, Semver: true}, Architecture: "amd64", OS: "linux",
				Created: created,
			},
			Labels: map[string]string{}, Result: &sdk.Result{Tag: to, Link: link},
			Check: sdk.CheckState{State: sdk.CheckOK, At: created}, UpdateAvailable: true,
			UpdateKind: sdk.UpdateKind{Kind: sdk.KindTag, LocalValue: from, RemoteValue: to, SemverDiff: diff},
		}
	}
	return []sdk.Container{
		sample("a", "test-web", "library/nginx", "1.25.5", "1.27.0", sdk.DiffMinor, "https://nginx.org/en/CHANGES"),
		sample("b", "test-db", "library/postgres", "15.6", "16.3", sdk.DiffMajor,
			"https://www.postgresql.org/docs/release/16.3/"),
	}
}
