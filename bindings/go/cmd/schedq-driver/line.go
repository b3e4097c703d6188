package main

import (
	"fmt"
	"strconv"
	"strings"
)

// line is a line of a vector: words, then key=value fields. schedq-conform has checked it.
type line struct {
	words  []string
	values map[string]string
}

// parseLine cuts a line. An event's hint stands behind a '=' too, so a field with a ':' before it is a word.
func parseLine(text string) line {
	parsed := line{values: map[string]string{}}
	for _, field := range strings.Fields(text) {
		key, value, found := strings.Cut(field, "=")
		if found && !strings.Contains(key, ":") {
			parsed.values[key] = value
		} else {
			parsed.words = append(parsed.words, field)
		}
	}
	return parsed
}

func (line line) text(key, absent string) string {
	if value, found := line.values[key]; found {
		return value
	}
	return absent
}

func (line line) has(key string) bool {
	_, found := line.values[key]
	return found
}

// number is 0 if the line has no such field.
func (line line) number(key string) int64 {
	value, _ := strconv.ParseInt(line.text(key, "0"), 10, 64)
	return value
}

// list is the items between commas; none for an empty text.
func (line line) list(key string) []string {
	if line.values[key] == "" {
		return nil
	}
	return strings.Split(line.values[key], ",")
}

// identity is a pod by the two names it has.
type identity struct{ name, uid string }

func (id identity) String() string {
	if id.name == id.uid {
		return id.name
	}
	return fmt.Sprintf("%s uid=%s", id.name, id.uid)
}

// parseIdentity reads P or P/UID.
func parseIdentity(text string) identity {
	name, uid, found := strings.Cut(text, "/")
	if !found {
		uid = name
	}
	return identity{name, uid}
}
