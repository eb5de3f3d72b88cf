package label

import (
	"strings"
)

// diunPrefix starts the labels of Diun: https://crazymax.dev/diun/providers/docker/#docker-labels
const diunPrefix = "diun."

func translateDiun(full, value string) Translation {
	name := strings.TrimPrefix(full, diunPrefix)
	switch name {
	case "enable":
		return same(Watch, value)
	case "watch_repo":
		return diunRepo(value)
	case "notify_on":
		return diunStatuses(value)
	case "include_tags":
		return same(TagInclude, AnyOf(value, ";"))
	case "exclude_tags":
		return same(TagExclude, AnyOf(value, ";"))
	case "hub_link":
		return same(LinkTemplate, literal(value))
	case "hub_tpl":
		return diunTemplate(value)
	case "platform":
		return none("the platform of the running image is the one that counts")
	case "regopt":
		return none("the registry is chosen by the host of the image")
	case "sort_tags":
		return none("versions are always compared as versions")
	case "max_tags":
		return none("every tag is looked at, and only newer versions are offered; dogwatch.tag.include restricts them")
	}
	if strings.HasPrefix(name, "metadata.") {
		return none("templates read the labels of the container themselves, as container.labels")
	}
	return misspelt(diunPrefix, name, "enable", "watch_repo", "notify_on", "include_tags", "exclude_tags", "hub_link",
		"hub_tpl", "platform", "regopt", "sort_tags", "max_tags")
}

// AnyOf writes a list of regular expressions as one that matches what any of them matches.
func AnyOf(list, separator string) string {
	var all []string
	for _, expression := range strings.Split(list, separator) {
		if expression = strings.TrimSpace(expression); expression != "" {
			all = append(all, expression)
		}
	}
	if len(all) == 1 {
		return all[0]
	}
	for i := range all {
		all[i] = "(?:" + all[i] + ")"
	}
	return strings.Join(all, "|")
}

// diunRepo: Diun compares digests, and other tags only if asked to.
func diunRepo(value string) Translation {
	all, ok := flag(value)
	switch {
	case !ok:
		return notFlag(value)
	case all:
		return Translation{Note: "newer versions are always looked for, other new tags are not reported"}
	}
	return Translation{
		Name: WatchDigest, Value: "true",
		Note: "newer versions are offered all the same; dogwatch.tag.include restricts them",
	}
}

// diunStatuses: in Diun an update is a new digest of a known tag.
func diunStatuses(value string) Translation {
	var fresh, changed bool
	for _, status := range strings.FieldsFunc(value, func(c rune) bool { return c == ';' || c == ',' || c == ' ' }) {
		switch strings.ToLower(status) {
		case "new":
			fresh = true
		case "update":
			changed = true
		default:
			return none("want new, update or new;update")
		}
	}
	switch {
	case fresh && !changed:
		return same(WatchDigest, "false")
	case changed && !fresh:
		return Translation{
			Name: WatchDigest, Value: "true",
			Note: "newer versions are offered all the same; dogwatch.tag.include restricts them",
		}
	case changed:
		return same(WatchDigest, "true")
	}
	return none("want new, update or new;update")
}

// diunTemplate translates the placeholders of a link that both have.
func diunTemplate(value string) Translation {
	var b strings.Builder
	for rest := value; rest != ""; {
		text, after, found := strings.Cut(rest, "{{")
		b.WriteString(literal(text))
		if !found {
			break
		}
		placeholder, after, closed := strings.Cut(after, "}}")
		known, ok := map[string]string{
			".Tag": "${original}", ".Path": "${container.image.name}", ".Domain": "${container.image.registry.host}",
		}[strings.TrimSpace(placeholder)]
		if !ok || !closed {
			return none("of its placeholders only {{ .Domain }}, {{ .Path }} and {{ .Tag }} have an equivalent; write dogwatch.link.template")
		}
		b.WriteString(known)
		rest = after
	}
	return same(LinkTemplate, b.String())
}
