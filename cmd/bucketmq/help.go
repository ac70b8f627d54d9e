package main

import (
	"fmt"
	"runtime"
	"runtime/debug"

	"github.com/alecthomas/kong"
)

// version is set by the release build: -ldflags "-X main.version=1.2.3".
var version = "0.1.0-dev"

type helpCmd struct {
	Command []string `arg:"" optional:"" help:"The command to explain."`
}

// Run prints the help of one command, as its --help would.
func (c *helpCmd) Run(parser *kong.Kong) error {
	_, err := parser.Parse(append(c.Command, "--help"))
	if err != nil {
		return usageError(err.Error())
	}
	return nil
}

type versionCmd struct{}

// Run prints the version, the commit it was built from, and the Go release.
func (versionCmd) Run(env *environment) error {
	_, err := fmt.Fprintf(env.stdout, "bucketmq %s%s (%s %s/%s)\n",
		version, revision(), runtime.Version(), runtime.GOOS, runtime.GOARCH)
	return err
}

func revision() string {
	info, ok := debug.ReadBuildInfo()
	if !ok {
		return ""
	}
	for _, s := range info.Settings {
		if s.Key == "vcs.revision" && len(s.Value) >= 12 {
			return " " + s.Value[:12]
		}
	}
	return ""
}
