package label

import (
	"encoding/json"
	"errors"
	"strings"
)

// Command reads the command of a label: a JSON list is run as it is, and anything else by a shell.
func Command(text string) ([]string, error) {
	if !strings.HasPrefix(text, "[") {
		return []string{"sh", "-c", text}, nil
	}
	var list []string
	if err := json.Unmarshal([]byte(text), &list); err != nil {
		return []string{"sh", "-c", text}, nil // such as [ -f /ready ]
	}
	if len(list) == 0 || list[0] == "" {
		return nil, errors.New("want a command, got an empty list")
	}
	return list, nil
}
