package http

import (
	"bytes"
	"encoding/json"
	"fmt"
	"net/url"
	"strconv"
)

// query adds JSON to a query: each value under its path, nested keys in
// brackets, such as image[tag][value]=1.25.0, and 0[id]=… for a list.
func query(existing string, payload []byte) (string, error) {
	var decoded any
	decoder := json.NewDecoder(bytes.NewReader(payload))
	decoder.UseNumber()
	if err := decoder.Decode(&decoded); err != nil {
		return "", fmt.Errorf("make a query of the containers: %w", err)
	}
	values := url.Values{}
	spread(values, "", decoded)
	added := values.Encode()
	if existing != "" && added != "" {
		existing += "&"
	}
	return existing + added, nil
}

func spread(values url.Values, path string, v any) {
	nested := func(key string) string {
		if path == "" {
			return key
		}
		return path + "[" + key + "]"
	}
	switch v := v.(type) {
	case map[string]any:
		for key, item := range v {
			spread(values, nested(key), item)
		}
	case []any:
		for i, item := range v {
			spread(values, nested(strconv.Itoa(i)), item)
		}
	default:
		values.Set(path, fmt.Sprint(v))
	}
}
