package sdk

import (
	"bytes"
	"encoding/json"
	"strconv"
	"strings"
)

// Flat is one value of a flattened container.
type Flat struct {
	// Key is in snake case: "image_tag_value", "labels_com_docker_compose_project".
	Key string
	// Value is a string or a bool.
	Value any
}

// Flatten returns the container as a list of keys and values, as MQTT messages,
// environment variables and metric labels need it. Each level of the JSON form
// becomes a part of the key, in snake case, joined by "_"; an item of a list is its
// number, from 0; what is absent from
// the JSON form is absent here. The order is that of the JSON form. Of two
// labels with the same key the last one, in the order of their names, wins.
func (c Container) Flatten() []Flat {
	text, err := json.Marshal(c)
	if err != nil {
		// Strings, booleans and times always have a JSON form.
		panic("flatten a container: " + err.Error())
	}
	f := flattener{decoder: json.NewDecoder(bytes.NewReader(text)), index: map[string]int{}}
	f.value("")
	return f.flat
}

// flattener walks the JSON form, which keeps the order of fields.
type flattener struct {
	decoder *json.Decoder
	flat    []Flat
	index   map[string]int // key to its place in flat
}

// value adds the next value of the decoder under key.
func (f *flattener) value(key string) {
	token := f.token()
	switch token {
	case json.Delim('{'):
		for f.decoder.More() {
			f.value(below(key, snake(f.token().(string))))
		}
	case json.Delim('['):
		for i := 0; f.decoder.More(); i++ {
			f.value(below(key, strconv.Itoa(i)))
		}
	default:
		f.add(key, token)
		return
	}
	f.token() // the closing brace or bracket
}

// below returns the key of what is called name within key.
func below(key, name string) string {
	if key == "" {
		return name
	}
	return key + "_" + name
}

func (f *flattener) token() json.Token {
	token, err := f.decoder.Token()
	if err != nil {
		panic("flatten a container: " + err.Error()) // the text comes from json.Marshal
	}
	return token
}

func (f *flattener) add(key string, value any) {
	if i, has := f.index[key]; has {
		f.flat[i].Value = value
		return
	}
	f.index[key] = len(f.flat)
	f.flat = append(f.flat, Flat{Key: key, Value: value})
}

// snake converts one level of a key: "displayName" is "display_name",
// "com.docker.compose" is "com_docker_compose", "HTTPServer" is "http_server".
// What is not an ASCII letter or digit only separates.
func snake(name string) string {
	var b strings.Builder
	gap := false
	for i := range len(name) {
		c := name[i]
		if !isLower(c) && !isUpper(c) && !isDigit(c) {
			gap = true
			continue
		}
		if isUpper(c) && i > 0 {
			before := name[i-1]
			endsCapitals := isUpper(before) && i+1 < len(name) && isLower(name[i+1])
			gap = gap || isLower(before) || isDigit(before) || endsCapitals
		}
		if gap && b.Len() > 0 {
			b.WriteByte('_')
		}
		gap = false
		if isUpper(c) {
			c += 'a' - 'A'
		}
		b.WriteByte(c)
	}
	return b.String()
}

func isLower(c byte) bool { return 'a' <= c && c <= 'z' }
func isUpper(c byte) bool { return 'A' <= c && c <= 'Z' }
func isDigit(c byte) bool { return '0' <= c && c <= '9' }
