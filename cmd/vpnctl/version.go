package main

import (
	"fmt"
	"runtime"
	"runtime/debug"
)

// version is set by the release build; a build from a checkout shows its commit.
var version = ""

type versionCommand struct{}

// Help is what --help adds.
func (versionCommand) Help() string {
	return `One line: the version, the commit where it is known, and the Go version and platform it was built with.

Example:

    vpnctl version`
}

func (versionCommand) Run(s *streams) error {
	_, err := fmt.Fprintln(s.stdout, versionLine())
	return err
}

func versionLine() string {
	return fmt.Sprintf("vpnctl %s %s %s/%s", Version(), runtime.Version(), runtime.GOOS, runtime.GOARCH)
}

// Version is the release, or what the build knows of the checkout: "devel
// 1a2b3c4d5e6f", with "+changes" where files were not committed.
func Version() string {
	if version != "" {
		return version
	}
	build, ok := debug.ReadBuildInfo()
	if !ok {
		return "devel"
	}
	commit, changes := "", ""
	for _, s := range build.Settings {
		switch {
		case s.Key == "vcs.revision":
			commit = " " + s.Value[:min(12, len(s.Value))]
		case s.Key == "vcs.modified" && s.Value == "true":
			changes = "+changes"
		}
	}
	return "devel" + commit + changes
}
