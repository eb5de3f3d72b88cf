package page

import (
	"testing"
)

func TestIconOfImage(t *testing.T) {
	assets, err := readAssets()
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range [][3]string{
		{"mdi:docker", "library/nginx", "nginx"}, {"", "library/postgres", "postgresql"},
		{"si:nextcloud", "x/y", "nextcloud"}, {"", "home-assistant/home-assistant", "homeassistant"},
		{"", "grafana/loki", "grafana"}, {"", "nobody/knows", genericIcon}, {"\"><script>", "\"><script>", genericIcon}, {"", "", genericIcon},
	} {
		if got := iconOf(assets.icons, c[0], c[1]); got != c[2] {
			t.Errorf("%q %q: %q, want %q", c[0], c[1], got, c[2])
		}
	}
}
