package main

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"path/filepath"
	"strings"

	"github.com/vpnctl/vpnctl/cloud/simulator"
)

type simulatorRequest struct {
	Cloud  string `default:"operator" enum:"operator,operator-admin,customer,admin" help:"Who makes the call. Default: ${default}."`
	Method string `arg:"" help:"GET, POST, PUT or DELETE."`
	Path   string `arg:"" help:"Service and path: network/v2.0/ports?name=vpnctl-acme-dc1"`
	Body   string `arg:"" optional:"" help:"JSON."`
}

// Help is what --help adds.
func (simulatorRequest) Help() string {
	return `Calls the simulated cloud of --sim directly, logged in as somebody who knows nothing of vpnctl: for looking at what is there, and for making drift that the next plan repairs. Prints the answer; a status of 400 and above is an error.

Examples:

    vpnctl simulator request GET 'network/v2.0/floatingips'
    vpnctl simulator request DELETE network/v2.0/security-group-rules/6f1c…`
}

func (c simulatorRequest) Run(g *Globals, s *streams, stop *interrupts) error {
	dir, err := g.Sim.folder(filepath.Dir(g.estateFile()))
	if err != nil {
		return err
	}
	seed, err := g.seed()
	if err != nil {
		return err
	}
	server, err := simulator.New(simulator.Options{Dir: dir, Seed: seed, Log: g.log(s)})
	if err != nil {
		return err
	}
	answer, err := c.call(stop.ctx, server)
	if closed := server.Close(); err == nil {
		err = closed
	}
	if err != nil {
		return err
	}
	_, err = s.stdout.Write(answer)
	return err
}

// simulated is the URL of a simulated cloud without a socket.
const simulated = "http://simulator"

func (c simulatorRequest) call(ctx context.Context, server *simulator.Server) ([]byte, error) {
	access, err := server.Credentials(simulated, c.Cloud)
	if err != nil {
		return nil, err
	}
	client := &http.Client{Transport: simulator.Transport(server)}
	token, err := request(ctx, client, http.MethodPost, access.AuthURL+"/auth/tokens", login(access), "")
	if err != nil {
		return nil, fmt.Errorf("logging in as %s: %w", c.Cloud, err)
	}
	token.Body.Close()
	answer, err := request(ctx, client, strings.ToUpper(c.Method), simulated+"/"+strings.TrimPrefix(c.Path, "/"), c.Body, token.Header.Get("X-Subject-Token"))
	if err != nil {
		return nil, err
	}
	defer answer.Body.Close()
	body, err := io.ReadAll(answer.Body)
	if err != nil {
		return nil, err
	}
	if answer.StatusCode >= http.StatusBadRequest {
		return nil, fmt.Errorf("%s %s: %s: %s", c.Method, c.Path, answer.Status, body)
	}
	var pretty bytes.Buffer
	if json.Indent(&pretty, body, "", "  ") != nil {
		return body, nil
	}
	return append(pretty.Bytes(), '\n'), nil
}

func login(c simulator.Credentials) string {
	return fmt.Sprintf(`{"auth": {"identity": {"methods": ["application_credential"], "application_credential": {"id": %q, "secret": %q}}}}`,
		c.CredentialID, c.Secret)
}

func request(ctx context.Context, client *http.Client, method, url, body, token string) (*http.Response, error) {
	r, err := http.NewRequestWithContext(ctx, method, url, strings.NewReader(body))
	if err != nil {
		return nil, err
	}
	r.Header.Set("Content-Type", "application/json")
	if token != "" {
		r.Header.Set("X-Auth-Token", token)
	}
	return client.Do(r)
}
