package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/rogpeppe/go-internal/testscript"

	"github.com/vpnctl/vpnctl/cloud/simulator"
)

const root = "../../"

func TestMain(m *testing.M) {
	testscript.Main(m, map[string]func(){"vpnctl": main})
}

// TestScripts runs what users do. Every script starts with testdata/estate in
// its folder, those about an example with all examples; what else they hold ends in
// .txt, or it would be part of the estate. The cloud is the simulated one of --sim, whose state is in
// .vpnctl/sim below it.
func TestScripts(t *testing.T) {
	testscript.Run(t, testscript.Params{
		Dir:                 root + "testdata/script",
		Setup:               setup,
		RequireExplicitExec: true,
		RequireUniqueNames:  true,
		Cmds: map[string]func(*testscript.TestScript, bool, []string){
			"neutron": neutron,
			"edit":    edit,
			"await":   await,
			"cluster": inCluster(t),
			"exits":   exits,
		},
	})
}

func setup(e *testscript.Env) error {
	e.Setenv("NO_COLOR", "1")
	e.Values[clusterKey{}] = &scriptCluster{}
	if strings.HasPrefix(filepath.Base(e.WorkDir), "script-example_") {
		return os.CopyFS(filepath.Join(e.WorkDir, "examples"), os.DirFS(root+"examples"))
	}
	return os.CopyFS(e.WorkDir, os.DirFS(root+"testdata/estate"))
}

// neutron is another client of the simulated cloud:
//
//	neutron POST security-group-rules BODY
//	neutron DELETE ports name=lb-frontend        everything that the query finds
//	neutron PUT ports name=vpnctl-acme-dc1 BODY
//	neutron PUT routers name=r add_extraroutes BODY
//
// In a body, {{ports name=lb-frontend}} is the ID of what the query finds.
func neutron(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) < 3 {
		ts.Fatalf("usage: neutron METHOD COLLECTION QUERY|BODY [VERB] [BODY]")
	}
	server, err := simulator.New(simulator.Options{Dir: ts.MkAbs(filepath.Join(sim(ts), ""))})
	ts.Check(err)
	defer func() { ts.Check(server.Close()) }()
	c := client{ts, server}
	method, collection := args[0], args[1]
	if method == http.MethodPost {
		c.call(method, collection, args[2])
		return
	}
	ids := c.find(collection, args[2])
	if len(ids) == 0 {
		ts.Fatalf("%s %s: nothing is there", collection, args[2])
	}
	for _, id := range ids {
		path, body := collection+"/"+id, ""
		if len(args) > 3 {
			body = args[len(args)-1]
		}
		if len(args) > 4 {
			path += "/" + args[3]
		}
		c.call(method, path, body)
	}
}

func sim(ts *testscript.TestScript) string {
	if dir := ts.Getenv("SIM"); dir != "" {
		return dir
	}
	return defaultSim
}

type client struct {
	ts     *testscript.TestScript
	server *simulator.Server
}

func (c client) call(method, path, body string) []byte {
	for {
		before, rest, found := strings.Cut(body, "{{")
		if !found {
			break
		}
		query, after, _ := strings.Cut(rest, "}}")
		collection, filter, _ := strings.Cut(query, " ")
		ids := c.find(collection, filter)
		if len(ids) != 1 {
			c.ts.Fatalf("%s: %d are there", query, len(ids))
		}
		body = before + ids[0] + after
	}
	r := simulatorRequest{Cloud: "operator", Method: method, Path: "network/v2.0/" + path, Body: body}
	answer, err := r.call(context.Background(), c.server)
	c.ts.Check(err)
	return answer
}

func (c client) find(collection, query string) []string {
	var found map[string][]struct {
		ID string `json:"id"`
	}
	c.ts.Check(json.Unmarshal(c.call(http.MethodGet, collection+"?"+query, ""), &found))
	var ids []string
	for _, list := range found {
		for _, one := range list {
			ids = append(ids, one.ID)
		}
	}
	return ids
}

// edit replaces a text in a file: edit FILE OLD NEW. The old text must be there.
func edit(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 3 {
		ts.Fatalf("usage: edit FILE OLD NEW")
	}
	path := ts.MkAbs(args[0])
	data, err := os.ReadFile(path)
	ts.Check(err)
	if !bytes.Contains(data, []byte(args[1])) {
		ts.Fatalf("%s holds no %q", args[0], args[1])
	}
	ts.Check(os.WriteFile(path, bytes.Replace(data, []byte(args[1]), []byte(args[2]), 1), 0o644))
}

// await waits for a file: await FILE.
func await(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 1 {
		ts.Fatalf("usage: await FILE")
	}
	for end := time.Now().Add(20 * time.Second); time.Now().Before(end); time.Sleep(10 * time.Millisecond) {
		if _, err := os.Stat(ts.MkAbs(args[0])); !errors.Is(err, os.ErrNotExist) {
			return
		}
	}
	ts.Fatalf("%s", fmt.Sprintf("%s did not appear", args[0]))
}

// exits runs a program that ends with this exit code: exits CODE PROGRAM ARG...
func exits(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) < 2 {
		ts.Fatalf("usage: exits CODE PROGRAM ARG...")
	}
	err := ts.Exec(args[1], args[2:]...)
	code := 0
	if ended, is := errors.AsType[*exec.ExitError](err); is {
		code = ended.ExitCode()
	} else {
		ts.Check(err)
	}
	if fmt.Sprint(code) != args[0] {
		ts.Fatalf("exit %d, want %s", code, args[0])
	}
}
