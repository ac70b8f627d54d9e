package main

import (
	"encoding/json"
	"os"
	"os/exec"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// TestReadmeShowsRealAnswers runs the curl lines of the first screen and
// compares the shape of what comes with what the README shows.
func TestReadmeShowsRealAnswers(t *testing.T) {
	text, err := os.ReadFile("../../README.md")
	if err != nil {
		t.Fatal(err)
	}
	if at := strings.Index(string(text), "```sh"); at < 0 || strings.Count(string(text[:at]), "\n") >= 10 {
		t.Error("the first code does not come before line 10")
	}
	_, console, _ := strings.Cut(string(text), "```console\n")
	console, _, _ = strings.Cut(console, "```")
	server := startServer(t, nil, "serve", "--data", t.TempDir())
	commands := 0
	for example := range strings.SplitSeq(strings.TrimSpace(console), "\n\n") {
		line, shown, _ := strings.Cut(example, "\n")
		line = strings.Replace(strings.TrimPrefix(line, "$ "), "localhost:8080", strings.TrimPrefix(server.URL, "http://"), 1)
		line = strings.Replace(line, "curl ", "curl --max-time 1 ", 1)
		got, err := exec.Command("sh", "-c", line).Output()
		if err != nil && !strings.Contains(line, "/stream") {
			t.Fatalf("%s: %v", line, err)
		}
		commands++
		if want, have := shapeOf(t, shown), shapeOf(t, string(got)); !reflect.DeepEqual(want, have) {
			t.Errorf("%s\nshows  %v\nanswer %v", line, want, have)
		}
	}
	if commands != 4 {
		t.Errorf("%d commands were run, want 4", commands)
	}
}

var dataLine = regexp.MustCompile(`(?m)^data: (.*)$`)

// shapeOf lists the members of a JSON answer, or of the first event.
func shapeOf(t *testing.T, text string) []string {
	t.Helper()
	if m := dataLine.FindStringSubmatch(text); m != nil {
		text = m[1]
	}
	var v any
	if err := json.Unmarshal([]byte(text), &v); err != nil {
		t.Fatalf("%v in %q", err, text)
	}
	var names []string
	var walk func(path string, v any)
	walk = func(path string, v any) {
		switch v := v.(type) {
		case map[string]any:
			for name, member := range v {
				names = append(names, path+"."+name)
				walk(path+"."+name, member)
			}
		case []any:
			for _, item := range v {
				walk(path+"[]", item)
			}
		}
	}
	walk("", v)
	slices.Sort(names)
	return names
}
