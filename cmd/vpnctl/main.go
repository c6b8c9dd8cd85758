package main

import (
	"os"

	"github.com/alecthomas/kong"
)

// grammar is all that can be typed.
type grammar struct {
	Globals

	Validate   validateCommand   `cmd:"" help:"Check manifests without any cloud or cluster."`
	Plan       planCommand       `cmd:"" help:"Show what would change, and whom it interrupts."`
	Apply      applyCommand      `cmd:"" help:"Make the cloud and the Kubernetes side what the manifests say."`
	Render     renderCommand     `cmd:"" help:"Write the Kubernetes objects of provisioned gateways into a folder, or print what installs reconcile."`
	Reconcile  reconcileCommand  `cmd:"" help:"Keep an estate as the manifests in a cluster say, until it is told to stop."`
	Status     statusCommand     `cmd:"" help:"Show how the gateways in a cluster stand, and whose tunnels are up."`
	Wait       waitCommand       `cmd:"" help:"Wait until gateways are ready, or their tunnels up."`
	Agent      agentCommand      `cmd:"" help:"What runs in a gateway pod."`
	Crds       crdsCommand       `cmd:"" name:"crds" help:"Print the CustomResourceDefinitions."`
	Simulator  simulatorCommand  `cmd:"" help:"A simulated OpenStack on loopback."`
	Version    versionCommand    `cmd:"" help:"Print the version."`
	Completion completionCommand `cmd:"" help:"Print a completion script for a shell."`
	Help       helpCommand       `cmd:"" hidden:"" help:"Explain a command."`
}

// Globals are the flags of every command.
type Globals struct {
	Estate  string           `placeholder:"FILE" help:"The Estate's file. Default: the nearest vpnctl.yaml, from the manifests' folder upwards." type:"path"`
	Sim     simFlag          `placeholder:"DIR" help:"--sim or --sim=DIR: a simulated cloud with its state in DIR (${sim} beside the Estate's file), and the Kubernetes side below it."`
	Verbose int              `short:"v" type:"counter" help:"Say more; -v also logs to stderr, -vv logs every call."`
	Version kong.VersionFlag `help:"Print the version."`
	Color   string           `enum:"auto,always,never" default:"auto" help:"Colour: auto, always or never. NO_COLOR counts for auto."`
}

func main() {
	os.Exit(run(os.Args[1:], standardStreams()))
}

// run carries out one command line and returns its exit code.
func run(args []string, s *streams) int {
	var g grammar
	parser, err := newParser(&g, s)
	if err != nil {
		return fail(s, err)
	}
	ctx, err := parser.Parse(args)
	if helped, ok := s.exited(); ok {
		return helped
	}
	if err != nil {
		return usage(s, err)
	}
	stop := newInterrupts(s.stderr)
	defer stop.Close()
	s.stdin = interruptible{stop.ctx, s.stdin}
	return fail(s, stop.told(ctx.Run(&g.Globals, s, stop)))
}

func newParser(g *grammar, s *streams) (*kong.Kong, error) {
	return kong.New(g,
		kong.Name("vpnctl"),
		kong.Description("Site-to-site VPN gateways on OpenStack and Kubernetes, from manifests: validate, plan, apply, render."),
		kong.Vars{"sim": defaultSim, "impacts": impactEnum, "version": versionLine()},
		agentVars(),
		kong.UsageOnError(),
		kong.Help(printHelp),
		kong.ConfigureHelp(kong.HelpOptions{Compact: true, NoExpandSubcommands: true}),
		kong.Writers(s.stdout, s.stderr),
		kong.Exit(s.exit),
	)
}
