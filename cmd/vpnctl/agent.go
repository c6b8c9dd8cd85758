package main

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"path/filepath"
	"strconv"

	"github.com/alecthomas/kong"

	"github.com/vpnctl/vpnctl/agent"
	"github.com/vpnctl/vpnctl/agent/report"
	"github.com/vpnctl/vpnctl/render/pod"
	"github.com/vpnctl/vpnctl/render/swanctl"
)

// agentCommand runs in gateway pods, and looks into them.
type agentCommand struct {
	Dataplane agentDataplane `cmd:"" help:"Keep routing, ruleset and WireGuard of a gateway pod equal to its mounted files."`
	Status    agentStatus    `cmd:"" help:"Hand keys over, keep tunnels up, and report what is up."`
	Show      agentShow      `cmd:"" help:"Print what both halves of the agent see."`
}

// agentVars are the defaults of flags: what the rendered Deployment mounts and probes.
func agentVars() kong.Vars {
	return kong.Vars{
		"config": pod.ConfigDir, "rules": pod.RulesDir, "run": pod.RunDir,
		"dataplaneport": strconv.Itoa(pod.DataplanePort), "metricsport": strconv.Itoa(pod.MetricsPort),
	}
}

type agentDataplane struct {
	ConfigDir string `name:"config" default:"${config}" placeholder:"DIR" help:"Where the gateway's ConfigMap is mounted. Default: ${default}." type:"path"`
	RulesDir  string `name:"rules" default:"${rules}" placeholder:"DIR" help:"Where the ruleset's ConfigMap is mounted. Default: ${default}." type:"path"`
	RunDir    string `name:"run" default:"${run}" placeholder:"DIR" help:"The memory volume that both halves share. Default: ${default}." type:"path"`
	Listen    string `default:":${dataplaneport}" placeholder:"ADDR" help:"Address of the probes /healthz and /readyz. Default: ${default}."`
}

// Help is what --help adds.
func (agentDataplane) Help() string {
	return `Runs in a gateway pod's dataplane container, with CAP_NET_ADMIN and without an API token, until it is told to stop. It finds the interface with the port's MAC address, keeps its policy routing, the nftables ruleset (with what host names resolve to) and the WireGuard device right, and ends connections whose grant went away. A change of the mounted files counts within a second. What fails is logged, tried again, and shown by vpnctl agent show.

When it stops, everything stays as it is, so packets pass while the container is restarted. Only a WireGuard device in user space ends with it.

Examples:

    vpnctl agent dataplane
    ip netns exec gateway vpnctl agent dataplane --config gateway --rules nat --run run --listen 127.0.0.1:9904`
}

func (c agentDataplane) Run(g *Globals, s *streams, stop *interrupts) error {
	loop := agent.NewDataplaneLoop(c.ConfigDir, c.RulesDir, c.RunDir)
	loop.Log = g.agentLog(s)
	return serving(stop, c.Listen, loop.Handler(), loop.Run)
}

type agentStatus struct {
	ConfigDir string `name:"config" default:"${config}" placeholder:"DIR" help:"Where the gateway's ConfigMap is mounted. Default: ${default}." type:"path"`
	RunDir    string `name:"run" default:"${run}" placeholder:"DIR" help:"The memory volume that both halves share; charon's socket is in it. Default: ${default}." type:"path"`
	Listen    string `default:":${metricsport}" placeholder:"ADDR" help:"Address of /metrics and of the probes /healthz and /readyz. Default: ${default}."`
	Files     string `placeholder:"DIR" help:"Without a cluster: Secrets are the files DIR/SECRET/KEY, and status goes to DIR/status.json." type:"path"`
}

// Help is what --help adds.
func (agentStatus) Help() string {
	return `Runs in a gateway pod's status container, with the pod's API token and without any capability, until it is told to stop. It reads exactly the Secrets that agent.json names, hands WireGuard keys to the dataplane half, loads keys and connections into charon once a ruleset is in force, initiates tunnels that stay down, and writes what is up to the gateway's and its peers' status and to /metrics.

When it stops, tunnels go on.

Examples:

    vpnctl agent status
    vpnctl agent status --config gateway --run run --files api --listen 127.0.0.1:9903`
}

func (c agentStatus) Run(g *Globals, s *streams, stop *interrupts) error {
	secrets, sink, err := c.api()
	if err != nil {
		return err
	}
	loop := agent.NewStatusLoop(c.ConfigDir, c.RunDir, secrets, sink)
	loop.Log, loop.Version = g.agentLog(s), Version()
	loop.Socket = filepath.Join(c.RunDir, filepath.Base(swanctl.Socket))
	return serving(stop, c.Listen, loop.Handler(), loop.Run)
}

// api is where Secrets come from and status goes to.
func (c agentStatus) api() (report.Source, report.Sink, error) {
	if c.Files != "" {
		return report.Files(c.Files), report.Files(c.Files), nil
	}
	server, err := report.InCluster()
	if err != nil {
		return nil, nil, fmt.Errorf("%w; --files DIR does without a cluster", err)
	}
	cluster, err := report.Kubernetes(server, report.DefaultPace)
	return cluster, cluster, err
}

// agentLog is always on: a pod's log is where its changes are looked for.
func (g *Globals) agentLog(s *streams) *slog.Logger {
	level := slog.LevelInfo
	if g.Verbose > 1 {
		level = slog.LevelDebug
	}
	return slog.New(slog.NewTextHandler(s.stderr, &slog.HandlerOptions{Level: level}))
}

// serving runs a loop and answers for it, until a signal or until it can't answer: a
// pod whose probes fail would be restarted for a reason that nobody sees.
func serving(stop *interrupts, address string, h http.Handler, loop func(context.Context) error) error {
	ctx, cancel := context.WithCancel(stop.ctx)
	defer cancel()
	served := make(chan error, 1)
	go func() {
		defer cancel()
		served <- agent.Serve(ctx, address, h)
	}()
	err := loop(ctx)
	cancel()
	return errors.Join(err, <-served)
}
