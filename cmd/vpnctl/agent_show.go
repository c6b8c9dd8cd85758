package main

import (
	"bytes"
	"cmp"
	"encoding/json"
	"fmt"
	"io"
	"slices"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/vpnctl/vpnctl/agent"
	"github.com/vpnctl/vpnctl/agent/volume"
	"github.com/vpnctl/vpnctl/plan/view"
)

type agentShow struct {
	RunDir string `name:"run" default:"${run}" placeholder:"DIR" help:"The memory volume that both halves share. Default: ${default}." type:"path"`
	Output string `short:"o" enum:"text,json" default:"text" help:"text or json. Default: ${default}."`
}

// Help is what --help adds.
func (agentShow) Help() string {
	return `Reads dataplane.json and status.json, which the two halves of the agent write, and needs neither a cluster nor a capability. What is older than 30 seconds is marked: its half is not at work.

Examples:

    kubectl -n acme exec deploy/dc1 -c status -- vpnctl agent show
    kubectl -n acme exec deploy/dc1 -c status -- vpnctl agent show -o json`
}

// staleAfter is the age at which what an agent wrote says nothing any more.
const staleAfter = 30 * time.Second

// shown are the agent's files; nil: there is none.
type shown struct {
	Dataplane *volume.Dataplane `json:"dataplane"`
	Status    *agent.Status     `json:"status"`
}

func (c agentShow) Run(s *streams) error {
	v := volume.Volume{Dir: c.RunDir}
	var out shown
	d, found, err := v.ReadDataplane()
	if err != nil {
		return err
	}
	if found {
		out.Dataplane = &d
	}
	data, found, err := v.ReadStatus()
	if err != nil {
		return err
	}
	if found {
		out.Status = &agent.Status{}
		if err := json.Unmarshal(data, out.Status); err != nil {
			return fmt.Errorf("reading status.json: %w", err)
		}
		out.Status.Memory = nil // the agent's own
	}
	if out.Dataplane == nil && out.Status == nil {
		return fmt.Errorf("no agent has written anything in %s", c.RunDir)
	}
	if c.Output == "json" {
		data, err := json.MarshalIndent(out, "", "  ")
		if err == nil {
			_, err = s.stdout.Write(append(data, '\n'))
		}
		return err
	}
	var text bytes.Buffer
	out.text(&text, time.Now())
	for line := range strings.Lines(text.String()) {
		if _, err := fmt.Fprintln(s.stdout, strings.TrimRight(line, " \n")); err != nil {
			return err
		}
	}
	return nil
}

// text prints what people look for first: what is wrong, and who is up.
func (o shown) text(w io.Writer, now time.Time) {
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	defer t.Flush()
	o.dataplane(t, now)
	o.status(t, now)
	o.problems(t)
	t.Flush()
	o.hosts(t)
	t.Flush()
	o.peers(t)
}

func (o shown) dataplane(w io.Writer, now time.Time) {
	d := o.Dataplane
	if d == nil {
		fmt.Fprintln(w, "Data plane\tnothing is written yet")
		return
	}
	fmt.Fprintf(w, "Data plane\t%s\n", freshness(d.Written, now))
	fmt.Fprintf(w, "  interface\t%s\n", cmp.Or(d.Interface, "missing"))
	fmt.Fprintf(w, "  ruleset\t%s\n", inForce(d.Ruleset, d.RulesetSince))
	if wg := d.WireGuard; wg != nil {
		where := "in the kernel"
		if wg.Userspace {
			where = "in user space"
		}
		fmt.Fprintf(w, "  WireGuard\t%s, public key %s\n", where, cmp.Or(wg.PublicKey, "none"))
	}
	fmt.Fprintf(w, "  connections ended\t%d\n", d.FlowsCut)
	fmt.Fprintf(w, "  reload errors\t%d\n", d.ReloadErrors)
}

func (o shown) status(w io.Writer, now time.Time) {
	s := o.Status
	if s == nil {
		fmt.Fprintln(w, "Status\tnothing is written yet")
		return
	}
	fmt.Fprintf(w, "Status\t%s\n", freshness(s.Written, now))
	fmt.Fprintf(w, "  gateway\t%s %s\n", s.Report.Gateway.Kind, s.Report.Gateway.Path())
	if s.Charon != "" {
		fmt.Fprintf(w, "  charon\t%s\n", view.Plain(s.Charon))
	}
	fmt.Fprintf(w, "  configuration\t%s\n", inForce(s.Config, s.InForce))
}

func (o shown) problems(w io.Writer) {
	var all, ours []volume.Problem
	if o.Status != nil {
		ours = o.Status.Problems
	}
	named := slices.ContainsFunc(ours, func(p volume.Problem) bool { return p.Part == volume.PartKeys })
	if o.Dataplane != nil {
		for _, p := range o.Dataplane.Problems {
			if named && p.Part == volume.PartKeys { // it waits for the other half, which says what for
				continue
			}
			all = append(all, p)
		}
	}
	all = append(all, ours...)
	if len(all) == 0 {
		fmt.Fprintln(w, "Problems\tnone")
		return
	}
	fmt.Fprintf(w, "Problems\t%d\n", len(all))
	for _, p := range all {
		fmt.Fprintf(w, "  %s\t%s (since %s)\n", p.Part, view.Plain(p.Text), stamp(p.Since))
	}
}

func (o shown) hosts(w io.Writer) {
	if o.Dataplane == nil || len(o.Dataplane.Hosts) == 0 {
		return
	}
	fmt.Fprintln(w, "\nEXPOSURE\tHOST\tADDRESS\tCHECKED\tPROBLEM")
	for _, h := range o.Dataplane.Hosts {
		address := "unknown"
		if h.Address.IsValid() {
			address = h.Address.String()
		}
		fmt.Fprintf(w, "%s\t%s\t%s\t%s\t%s\n", h.Exposure, h.Name, address, stamp(h.Checked), view.Plain(h.Problem))
	}
}

func (o shown) peers(w io.Writer) {
	if o.Status == nil || len(o.Status.Report.Peers) == 0 {
		return
	}
	fmt.Fprintln(w, "\nPEER\tSTATE\tUP\tSINCE\tHANDSHAKE\tRECEIVED\tSENT\tMESSAGE")
	for _, p := range o.Status.Report.Peers {
		fmt.Fprintf(w, "%s\t%s\t%d of %d\t%s\t%s\t%d\t%d\t%s\n", p.Name, p.State, p.Up, p.Expected,
			stamp(p.Since), stamp(p.LastHandshake), p.BytesIn, p.BytesOut, view.Plain(p.Message))
	}
}

func freshness(at, now time.Time) string {
	if now.Sub(at) > staleAfter {
		return "written " + stamp(at) + ": STALE, this half of the agent is not at work"
	}
	return "written " + stamp(at)
}

func inForce(hash string, since time.Time) string {
	if hash == "" || since.IsZero() {
		return "not in force"
	}
	return hash + " since " + stamp(since)
}

// stamp is a time for people; "-": it has not come.
func stamp(t time.Time) string {
	if t.IsZero() {
		return "-"
	}
	return t.UTC().Format(time.RFC3339)
}
