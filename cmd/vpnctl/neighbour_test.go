package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"strings"
	"testing"
	"time"

	"github.com/vpnctl/vpnctl/cloud"
	"github.com/vpnctl/vpnctl/cloud/kube"
)

// answers are what a cluster says of other estates' leaders, one after the other.
type answers []func() (*kube.Leader, error)

func (a *answers) OtherLeader(context.Context, string) (*kube.Leader, error) {
	next := (*a)[0]
	*a = (*a)[1:]
	return next()
}

// TestTwoReconcilesKeepOneCluster: the second one refuses to begin, and names the first.
func TestTwoReconcilesKeepOneCluster(t *testing.T) {
	lab := func() (*kube.Leader, error) {
		return &kube.Leader{Lease: "vpnctl-system/vpnctl-reconcile-lab", Estate: "lab", Name: "someone@there"}, nil
	}
	nobody := func() (*kube.Leader, error) { return nil, nil }
	away := func() (*kube.Leader, error) { return nil, errors.New("the cluster is away") }
	denied := func() (*kube.Leader, error) { return nil, fmt.Errorf("%w: leases", cloud.ErrForbidden) }
	for name, c := range map[string]struct {
		says      answers
		dry       bool
		want, log string
	}{
		"nobody else is there":               {says: answers{nobody}},
		"another estate is kept":             {says: answers{lab}, want: "reconcile of estate lab is at work in this cluster (Lease vpnctl-system/vpnctl-reconcile-lab, held by someone@there)"},
		"another estate is kept, a dry run":  {says: answers{lab}, dry: true, log: "estate=lab"},
		"that may not be seen":               {says: answers{denied}, log: "can't be seen"},
		"the cluster is away, then it is so": {says: answers{away, away, lab}, want: "estate lab", log: "the cluster is away"},
	} {
		t.Run(name, func(t *testing.T) {
			var log bytes.Buffer
			n := neighbours{cluster: &c.says, estate: "acme", dry: c.dry, log: slog.New(slog.NewTextHandler(&log, nil)), pause: time.Millisecond}
			err := n.refuse(t.Context(), nil)
			if (err != nil) != (c.want != "") || err != nil && !strings.Contains(err.Error(), c.want) {
				t.Errorf("%v, want %q", err, c.want)
			}
			if !strings.Contains(log.String(), c.log) || c.log == "" && log.Len() > 0 {
				t.Errorf("the log has no %q: %s", c.log, log.String())
			}
		})
	}
}
