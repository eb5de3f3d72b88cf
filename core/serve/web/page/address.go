package page

import (
	"net/url"
	"strings"

	"github.com/dogwatch/dogwatch/core/serve/service"
	"github.com/dogwatch/dogwatch/core/update/operation"
	"github.com/dogwatch/dogwatch/sdk"
	"github.com/dogwatch/dogwatch/sdk/kind"
)

// KindTitles are the headings of the kinds, and the paths of their lists in lower case.
var KindTitles = map[kind.Kind]string{kind.Watcher: "Watchers", kind.Registry: "Registries", kind.Trigger: "Triggers"}

// KindPath is where the list of a kind is, below the base path.
func KindPath(k kind.Kind) string { return "/" + strings.ToLower(KindTitles[k]) }

// ComponentPath is the page of a component.
func ComponentPath(c service.Component) string { return KindPath(c.Kind) + "/" + c.Type + "/" + c.Name }

// ContainerPath is the page of the container that a watcher has by a name.
func ContainerPath(watcherName, name string) string {
	return "/containers/" + url.PathEscape(watcherName) + "/" + url.PathEscape(name)
}

// OperationPath is the page of an operation.
func OperationPath(id string) string { return "/operations/" + url.PathEscape(id) }

// ChangePath is the page of the plan for a container.
func ChangePath(kind operation.Kind, c *sdk.Container) string {
	if kind == operation.Rollback {
		return PathOf(c) + "/rollback"
	}
	return PathOf(c) + "/update"
}

// PathOf is the page of a container, below the base path.
func PathOf(c *sdk.Container) string { return ContainerPath(c.Watcher, c.Name) }

// TypePath is the page with the options of a type.
func TypePath(k kind.Kind, name string) string {
	return "/plugins/types/" + url.PathEscape(string(k)) + "/" + url.PathEscape(name)
}

// SelectionPath is the page of several plans, or of the one where only one was chosen.
func SelectionPath(chosen []sdk.Container) string {
	if len(chosen) == 1 {
		return ChangePath(operation.Update, &chosen[0])
	}
	query := url.Values{}
	for i := range chosen {
		query.Add("c", chosen[i].Watcher+"/"+chosen[i].Name)
	}
	return "/update?" + query.Encode()
}
