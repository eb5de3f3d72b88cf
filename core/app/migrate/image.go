package migrate

import "strings"

// imageOf returns the tool that an image holds; "" for any other image.
func imageOf(image string) string {
	name, _, _ := strings.Cut(strings.ToLower(image), "@")
	if slash := strings.LastIndexByte(name, '/'); strings.LastIndexByte(name, ':') > slash {
		name = name[:strings.LastIndexByte(name, ':')]
	}
	for _, prefix := range []string{"docker.io/", "index.docker.io/", "ghcr.io/", "quay.io/"} {
		name = strings.TrimPrefix(name, prefix)
	}
	switch name {
	case "getwud/wud", "fmartinou/whats-up-docker":
		return "wud"
	case "codeswhat/drydock":
		return "drydock"
	case "containrrr/watchtower", "nickfedor/watchtower", "nicholas-fedor/watchtower", "beatkind/watchtower",
		"v2tec/watchtower":
		return "watchtower"
	case "crazymax/diun", "crazy-max/diun":
		return "diun"
	}
	return ""
}
