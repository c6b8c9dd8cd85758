package view

import (
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/vpnctl/vpnctl/plan/vpn"
)

// Options say how a plan is shown.
type Options struct {
	Width   int                     // of the terminal; 0: unknown
	Color   bool                    // ANSI colours, for terminals; they only mark what the signs already say
	Verbose bool                    // every attribute, object, unchanged gateway and cell of the reachability table
	Header  Header                  // the first line
	Given   map[vpn.Owner]Addresses // shown with Verbose: what each gateway has
	Next    string                  // what to type next: "vpnctl apply gateways/"; empty: no hint
}

// Header is what a reader wants to know before the plan itself. Empty fields
// are left out; without Calls and Elapsed the same plan gives the same bytes.
type Header struct {
	Cloud     string        // "operator (fra1)"
	Target    string        // "directory deploy", "cluster fra1"
	Directory string        // where Kubernetes objects are written, put before their paths
	Cluster   bool          // Kubernetes objects are in a cluster: they have no paths
	Calls     int           // API calls that planning took
	Elapsed   time.Duration // time that planning took
}

// Cost writes "7 API calls, 0.9 s", the parts of a header that differ from run
// to run; empty where nothing was measured.
func (h Header) Cost() string {
	var parts []string
	if h.Calls > 0 {
		parts = append(parts, count(h.Calls, "API call"))
	}
	if h.Elapsed > 0 {
		parts = append(parts, seconds(h.Elapsed))
	}
	return strings.Join(parts, ", ")
}

func seconds(d time.Duration) string { return fmt.Sprintf("%.1f s", d.Seconds()) }

// count writes "1 gateway", "3 gateways".
func count(n int, noun string) string {
	if n == 1 {
		return "1 " + noun
	}
	if strings.HasSuffix(noun, "ss") {
		return fmt.Sprintf("%d %ses", n, noun)
	}
	if strings.HasSuffix(noun, "y") && !strings.HasSuffix(noun, "ay") {
		return fmt.Sprintf("%d %sies", n, strings.TrimSuffix(noun, "y"))
	}
	return fmt.Sprintf("%d %ss", n, noun)
}

func write(w io.Writer, s string) error {
	_, err := io.WriteString(w, s)
	return err
}
