package main

import (
	"errors"
	"fmt"
	"testing"

	"github.com/vpnctl/vpnctl/cloud"
)

func TestCure(t *testing.T) {
	for name, c := range map[string]struct {
		err  error
		want string
	}{
		"a quota":                     {cloud.ErrQuota, "raise the quota, or remove something"},
		"a name that fits nothing":    {cloud.ErrUnresolved, "correct what the manifests name"},
		"what the cloud rejects":      {cloud.ErrRejected, "see to what the cloud refuses"},
		"what another try may cure":   {errors.New("503 Service Unavailable"), ""},
		"a conflict is planned again": {cloud.ErrConflict, ""},
		"nothing went wrong":          {nil, ""},
	} {
		err := c.err
		if err != nil {
			err = fmt.Errorf("creating port acme/dc1: %w", err)
		}
		if got := cure(err); got != c.want {
			t.Errorf("%s: %q, want %q", name, got, c.want)
		}
	}
}
