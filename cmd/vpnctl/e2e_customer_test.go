//go:build e2e

package main

import (
	"net/http"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/rogpeppe/go-internal/testscript"
)

// customers begins what concerns the customer's project, whose ID $CUSTOMER holds from
// here on. What the estate leaves there is taken away at the end, and then every policy
// by which that project uses a network of the operator's.
func (e endToEnd) customers(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 0 {
		ts.Fatalf("usage: customers")
	}
	estate := ts.Getenv("ESTATE")
	ts.Setenv("CUSTOMER", e.customer.project)
	ts.Defer(func() {
		own, _ := e.cloud.of(estate)
		e.customer.sweepRoutes(own)
		e.customer.sweep(estate)
		policies, _ := e.cloud.ids(sharedBy, "target_tenant="+e.customer.project)
		for _, id := range policies {
			_, _ = e.cloud.call(http.MethodDelete, sharedBy+"/"+id, "")
		}
	})
}

const sharedBy = "rbac-policies"

// across writes into a file what stands between the two projects, byte for byte as the
// cloud shows it: the customer's ports, groups and routers, the policies for it, and what
// a link has in the operator's project: across FILE. It waits until two looks are the same.
func (e endToEnd) across(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 1 {
		ts.Fatalf("usage: across FILE")
	}
	text, last := "", "none"
	for tries := 0; text != last && tries < 10; tries++ {
		time.Sleep(time.Second)
		var err error
		last = text
		text, err = e.between(ts.Getenv("ESTATE"))
		ts.Check(err)
	}
	ts.Check(os.WriteFile(ts.MkAbs(args[0]), []byte(text), 0o644))
}

func (e endToEnd) between(estate string) (string, error) {
	var lines []string
	show := func(c *openStack, collection, query string, want func(thing) bool) error {
		all, err := c.list(collection, query)
		for _, o := range all {
			if !want(o) {
				continue
			}
			text, err := c.call(http.MethodGet, collection+"/"+o.ID, "")
			if err != nil {
				return err
			}
			lines = append(lines, string(text)+"\n")
		}
		return err
	}
	everything := func(thing) bool { return true }
	links := func(o thing) bool {
		return strings.HasPrefix(o.Description, "vpnctl: ClusterLink/") && strings.HasSuffix(o.Description, " of estate "+estate)
	}
	for _, collection := range []string{"ports", "security-groups", "routers"} {
		if err := show(e.customer, collection, "", everything); err != nil {
			return "", err
		}
	}
	for _, collection := range kinds {
		if err := show(e.cloud, collection, "", links); err != nil {
			return "", err
		}
	}
	err := show(e.cloud, sharedBy, "target_tenant="+e.customer.project, everything)
	slices.Sort(lines)
	return strings.Join(lines, ""), err
}
