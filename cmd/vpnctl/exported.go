package main

import (
	"cmp"
	"fmt"
	"os"

	"github.com/vpnctl/vpnctl/plan/alloc"
	"github.com/vpnctl/vpnctl/plan/manifest"
	"github.com/vpnctl/vpnctl/plan/vpn"
)

// exported reads what files tell of gateways that an operator made. Diagnostics go to
// stderr; with an error among them nothing else is done.
func exported(s *streams, files []string) ([]alloc.Operated, error) {
	var all []alloc.Operated
	told, uids := map[vpn.Owner]string{}, map[string]string{}
	for _, file := range files {
		data, err := os.ReadFile(file)
		if err != nil {
			return nil, fmt.Errorf("--adopt-from: %w", err)
		}
		some, found := manifest.Exported(file, data)
		if err := writeDiagnostics(s.stderr, found); err != nil {
			return nil, err
		}
		if found.Errors() > 0 {
			return nil, errSaid
		}
		for _, g := range some {
			if before := cmp.Or(told[g.Owner], uids[g.UID]); before != "" {
				return nil, fmt.Errorf("--adopt-from: %s tells of %s, or of its UID, and so does %s", file, g.Owner, before)
			}
			all = append(all, g)
		}
		for _, g := range some {
			told[g.Owner], uids[g.UID] = file, file
		}
	}
	return all, nil
}
