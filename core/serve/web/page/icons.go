package page

import (
	"path"
	"strings"
	"unicode"
)

// alias is the name of the brand of images that are called otherwise; "" for all others.
func alias(name string) string {
	switch name {
	case "actualserver":
		return "actualbudget"
	case "adguardhome":
		return "adguard"
	case "httpd":
		return "apache"
	case "cloudflared":
		return "cloudflare"
	case "mosquitto":
		return "eclipsemosquitto"
	case "giteaserver":
		return "gitea"
	case "gitlabce", "gitlabee":
		return "gitlab"
	case "golang":
		return "go"
	case "immichserver", "immichmachinelearning":
		return "immich"
	case "influxdb2":
		return "influxdb"
	case "matrixsynapse", "synapse":
		return "matrix"
	case "mongo":
		return "mongodb"
	case "mysqlserver":
		return "mysql"
	case "node":
		return "nodedotjs"
	case "openwebui":
		return "openai"
	case "plexinc", "pmsdocker":
		return "plex"
	case "postgres", "postgis":
		return "postgresql"
	case "alertmanager", "nodeexporter":
		return "prometheus"
	case "valkey":
		return "redis"
	case "traefik":
		return "traefikproxy"
	case "unifinetworkapplication", "unifi":
		return "ubiquiti"
	case "code":
		return "vscodium"
	case "wiki":
		return "wikidotjs"
	}
	return ""
}

// genericIcon is shown for images that no icon stands for.
const genericIcon = "container"

// iconOf returns which of the icons is that of an image: what the label asks for, what the image
// or its owner is called, or the generic one.
func iconOf(icons map[string]bool, label, image string) string {
	_, slug, prefixed := strings.Cut(label, ":")
	if !prefixed {
		slug = label
	}
	owner := path.Base(path.Dir(image))
	for _, name := range []string{slug, path.Base(image), owner} {
		name = plain(name)
		if known := alias(name); known != "" {
			name = known
		}
		if name != "docker" && icons[name] {
			return name
		}
	}
	return genericIcon
}

// plain is a name with nothing but its letters and digits.
func plain(name string) string {
	return strings.Map(func(r rune) rune {
		if unicode.IsLetter(r) || unicode.IsDigit(r) {
			return unicode.ToLower(r)
		}
		return -1
	}, name)
}

// iconNames finds the icons of the sprite.
func iconNames(sprite []byte) map[string]bool {
	names := map[string]bool{}
	for _, part := range strings.Split(string(sprite), `<symbol id="`)[1:] {
		name, _, _ := strings.Cut(part, `"`)
		names[name] = true
	}
	return names
}
