package podman

import (
	"encoding/json"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strings"
)

// Differences returns the names of the settings that Podman tells of a container and of the one that took its place,
// and which differ: "HostConfig.PidsLimit". Those that the images decide, and what is of one container alone, are left
// out. The documents are those of "podman inspect".
func Differences(before, after json.RawMessage) ([]string, error) {
	a, err := comparable(before)
	if err != nil {
		return nil, err
	}
	b, err := comparable(after)
	if err != nil {
		return nil, err
	}
	for name := range b { // another image may have another volume, and compose another label
		if _, had := a[name]; !had && strings.HasPrefix(name, "mount ") {
			delete(b, name)
		}
	}
	var differ []string
	for name := range maps.Keys(a) {
		if !reflect.DeepEqual(a[name], b[name]) {
			differ = append(differ, name)
		}
	}
	for name := range b {
		if _, both := a[name]; !both {
			differ = append(differ, name)
		}
	}
	slices.Sort(differ)
	return differ, nil
}

// comparable returns the settings of a container by their names, without empty ones.
func comparable(document json.RawMessage) (map[string]any, error) {
	var all struct {
		ID              string `json:"Id"`
		Pod             string
		BoundingCaps    []any
		Config          map[string]any
		HostConfig      map[string]any
		Mounts          []Mount
		NetworkSettings NetworkSettings
	}
	if err := json.Unmarshal(document, &all); err != nil {
		return nil, fmt.Errorf("read what Podman says of a container: %w", err)
	}
	settings := map[string]any{"Pod": all.Pod, "BoundingCaps": ordered(all.BoundingCaps)}
	for _, name := range []string{
		"Umask", "Timezone", "StopTimeout", "Timeout", "OpenStdin", "Tty", "HealthcheckOnFailureAction", "sdNotifyMode",
		"Secrets", "SystemdMode", "Passwd", "ChrootDirs",
	} {
		settings["Config."+name] = ordered(all.Config[name])
	}
	if annotated, ok := all.Config["Annotations"].(map[string]any); ok {
		for name, value := range annotated {
			if !ownAnnotation(name) {
				settings["annotation "+name] = value
			}
		}
	}
	for name, value := range all.HostConfig {
		switch name {
		case "Binds", "ContainerIDFile", "Tmpfs", "BlkioWeightDevice", "ConsoleSize":
			continue
		case "LogConfig":
			if log, ok := value.(map[string]any); ok {
				delete(log, "Path")
			}
		}
		if mode, ok := value.(string); ok && strings.HasPrefix(mode, "container:") {
			value = "container" // which may be another one by now
		}
		settings["HostConfig."+name] = ordered(value)
	}
	for _, m := range all.Mounts {
		slices.Sort(m.Options)
		settings["mount "+m.Destination] = fmt.Sprint(m)
	}
	if tmpfs, ok := all.HostConfig["Tmpfs"].(map[string]any); ok {
		for path, options := range tmpfs {
			sorted := strings.Split(fmt.Sprint(options), ",")
			slices.Sort(sorted)
			settings["tmpfs "+path] = strings.Join(sorted, ",")
		}
	}
	for name, n := range all.NetworkSettings.Networks {
		aliases := slices.DeleteFunc(n.Aliases, func(alias string) bool {
			return len(alias) >= 12 && strings.HasPrefix(all.ID, alias)
		})
		slices.Sort(aliases)
		settings["network "+name] = "aliases " + strings.Join(aliases, ",")
	}
	maps.DeleteFunc(settings, func(_ string, value any) bool { return empty(value) })
	return settings, nil
}

// empty reports whether a setting says nothing: Podman tells one that is not set as null, or in an empty form.
func empty(value any) bool {
	if value == nil {
		return true
	}
	switch v := reflect.ValueOf(value); v.Kind() {
	case reflect.Slice, reflect.Map:
		return v.Len() == 0
	default:
		return v.IsZero()
	}
}

// ordered sorts a list, which Podman tells in any order.
func ordered(value any) any {
	list, ok := value.([]any)
	if !ok {
		return value
	}
	slices.SortFunc(list, func(a, b any) int { return strings.Compare(fmt.Sprint(a), fmt.Sprint(b)) })
	return list
}
