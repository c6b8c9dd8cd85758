//go:build e2e

package main

import (
	"fmt"
	"math/rand/v2"
	"net/http"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/rogpeppe/go-internal/testscript"
)

// TestEndToEnd runs what users do against the services that the clouds.yaml of
// $OS_CLIENT_CONFIG_FILE leads to, which has to hold what the examples' Estates
// name: the network, the router, the pool, and a server for each node; and a
// customer's project, where what stands in clouds.yaml as the lab writes it leads.
func TestEndToEnd(t *testing.T) {
	cloud, err := realCloud(os.Getenv("OS_CLIENT_CONFIG_FILE"), "operator")
	if err != nil {
		t.Fatal(err)
	}
	customer, err := realCloud(os.Getenv("OS_CLIENT_CONFIG_FILE"), "customer")
	if err != nil {
		t.Fatal(err)
	}
	e := endToEnd{cloud: cloud, customer: customer}
	testscript.Run(t, testscript.Params{
		Dir:                 root + "testdata/e2e",
		RequireExplicitExec: true,
		RequireUniqueNames:  true,
		Setup:               e.setup,
		Cmds: map[string]func(*testscript.TestScript, bool, []string){
			"estate":    e.estate,
			"neutron":   e.cloud.command,
			"foreign":   e.foreign,
			"note":      e.note,
			"unroute":   e.unroute,
			"gone":      e.gone,
			"edit":      edit,
			"customers": e.customers,
			"customer":  e.customer.command,
			"across":    e.across,
		},
	})
}

type endToEnd struct{ cloud, customer *openStack }

// hops are the addresses that the estate's ports had when they were noted.
type hops struct{ addresses map[string]bool }

func (e endToEnd) setup(env *testscript.Env) error {
	env.Setenv("NO_COLOR", "1")
	env.Setenv("OS_CLIENT_CONFIG_FILE", os.Getenv("OS_CLIENT_CONFIG_FILE"))
	env.Values["hops"] = &hops{map[string]bool{}}
	return os.CopyFS(filepath.Join(env.WorkDir, "examples"), os.DirFS(root+"examples"))
}

var (
	estateName = regexp.MustCompile(`(?m)^  name: (\S+)`)
	nodeServer = regexp.MustCompile(`- name: (\S+)\n( +)serverID: \S+`)
)

// estate makes the vpnctl.yaml of this folder one of the lab: a name of this
// script's own, which $ESTATE holds from here on, and the servers that are there.
// Scripts run side by side, and one that failed half-way is not in the next one's way.
func (e endToEnd) estate(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 0 {
		ts.Fatalf("usage: estate")
	}
	servers, err := e.cloud.servers()
	ts.Check(err)
	path := ts.MkAbs("vpnctl.yaml")
	data, err := os.ReadFile(path)
	ts.Check(err)
	name := estateName.FindStringSubmatch(string(data))[1]
	own := fmt.Sprintf("%s-%06x", name, rand.N(1<<24))
	text := strings.Replace(string(data), "name: "+name, "name: "+own, 1)
	text = nodeServer.ReplaceAllStringFunc(text, func(node string) string {
		m := nodeServer.FindStringSubmatch(node)
		if servers[m[1]] == "" {
			ts.Fatalf("the cloud has no server %s", m[1])
		}
		return fmt.Sprintf("- name: %s\n%sserverID: %s", m[1], m[2], servers[m[1]])
	})
	ts.Check(os.WriteFile(path, []byte(text), 0o644))
	ts.Setenv("ESTATE", own)
	ts.Defer(func() { e.cloud.sweep(own) })
}

// command is another client of a project, the operator's or, as the
// command customer, the customer's:
//
//	neutron POST ports BODY
//	neutron DELETE security-group-rules VPNGateway/acme/dc1 port_range_min=4500
//	neutron PUT ports VPNGateway/acme/dc1 '' BODY
//	neutron PUT ports VPNGateway/acme/dc1 tags BODY
//	neutron PUT routers name=gateway-router add_extraroutes BODY
//	! neutron DELETE rbac-policies target_tenant=ID
//
// An owner stands for what vpnctl made for it in $ESTATE, a rule's for its
// security group. In a body, {{networks name=vpn-transit}} is the ID of what the
// query finds. What is negated must be a conflict.
func (c *openStack) command(ts *testscript.TestScript, neg bool, args []string) {
	if len(args) < 3 {
		ts.Fatalf("usage: [!] neutron METHOD COLLECTION OWNER|QUERY|BODY [QUERY|VERB] [BODY]")
	}
	err := c.carryOut(ts.Getenv("ESTATE"), args[0], args[1], append(args[2:], "", ""))
	conflicts := err != nil && strings.Contains(err.Error(), ": 409 ")
	switch {
	case !neg:
		ts.Check(err)
	case conflicts:
		ts.Logf("%v", err)
	default:
		ts.Fatalf("want a conflict, got %v", err)
	}
}

func (c *openStack) carryOut(estate, method, collection string, args []string) error {
	if method == http.MethodPost {
		return c.create(collection, args[0])
	}
	filter := args[0]
	if !strings.Contains(filter, "=") {
		filter = "description=" + described(filter, estate)
	}
	if collection == "security-group-rules" {
		ids, err := c.ids("security-groups", filter)
		if err != nil {
			return err
		}
		filter = "security_group_id=" + strings.Join(ids, "&security_group_id=") + "&" + args[1]
	}
	ids, err := c.ids(collection, filter)
	if err == nil && len(ids) == 0 {
		err = fmt.Errorf("%s %s: nothing is there", collection, filter)
	}
	for _, id := range ids {
		path := collection + "/" + id
		if verb := args[1]; verb != "" && method == http.MethodPut {
			path += "/" + verb
		}
		var body string
		if body, err = c.filled(args[2]); err == nil {
			_, err = c.call(method, path, body)
		}
		if err != nil {
			break
		}
	}
	return err
}

// foreign writes what another hand made, which has the description "foreign to
// $ESTATE", into a file, byte for byte as the cloud shows it: foreign FILE. It
// waits until two looks are the same, for a new address changes its status by
// itself.
func (e endToEnd) foreign(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 1 {
		ts.Fatalf("usage: foreign FILE")
	}
	text, last := "", "none"
	for tries := 0; text != last && tries < 10; tries++ {
		time.Sleep(time.Second)
		var err error
		last = text
		text, err = e.cloud.foreign(ts.Getenv("ESTATE"))
		ts.Check(err)
	}
	if text == "" {
		ts.Fatalf("nothing is foreign to %s", ts.Getenv("ESTATE"))
	}
	ts.Check(os.WriteFile(ts.MkAbs(args[0]), []byte(text), 0o644))
}

// everywhere finds all that belongs to an estate in both projects.
func (e endToEnd) everywhere(ts *testscript.TestScript) []thing {
	own, err := e.cloud.of(ts.Getenv("ESTATE"))
	ts.Check(err)
	theirs, err := e.customer.of(ts.Getenv("ESTATE"))
	ts.Check(err)
	return append(own, theirs...)
}

// note remembers the addresses that the estate's ports have.
func (e endToEnd) note(ts *testscript.TestScript, neg bool, args []string) {
	all := e.everywhere(ts)
	known := ts.Value("hops").(*hops).addresses
	for _, o := range all {
		for _, ip := range o.FixedIPs {
			known[ip.Address] = true
		}
	}
	if len(known) == 0 {
		ts.Fatalf("estate %s has no port", ts.Getenv("ESTATE"))
	}
}

// unroute is another client who takes the routes away that lead to the addresses
// that were noted, with a word those on the customer's routers: unroute [customer].
func (e endToEnd) unroute(ts *testscript.TestScript, neg bool, args []string) {
	c := e.cloud
	if len(args) > 0 {
		c = e.customer
	}
	routes := leading(ts, c)
	if len(routes) == 0 {
		ts.Fatalf("no route leads to %v", ts.Value("hops").(*hops).addresses)
	}
	for _, r := range routes {
		ts.Check(c.unroute(r))
	}
}

// leading are a project's routes to the addresses that were noted.
func leading(ts *testscript.TestScript, c *openStack) []route {
	routes, err := c.routes()
	ts.Check(err)
	return slices.DeleteFunc(routes, func(r route) bool { return !ts.Value("hops").(*hops).addresses[r.Hop] })
}

// gone wants nothing of the estate to be left: no object by tag, description or
// the lock's name, and no route to an address that was noted.
func (e endToEnd) gone(ts *testscript.TestScript, neg bool, args []string) {
	left := e.everywhere(ts)
	for _, o := range left {
		ts.Logf("left over: %s %s %q %q", o.collection, o.ID, o.Name, o.Description)
	}
	routes := append(leading(ts, e.cloud), leading(ts, e.customer)...)
	if len(left)+len(routes) > 0 {
		ts.Fatalf("%d objects and routes %v are left", len(left), routes)
	}
}
