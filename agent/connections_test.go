package agent

import (
	"encoding/json"
	"math/rand/v2"
	"net/netip"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/vpnctl/vpnctl/plan"
	"github.com/vpnctl/vpnctl/plan/resource"
	"github.com/vpnctl/vpnctl/render"
	"github.com/vpnctl/vpnctl/render/pod"
	"github.com/vpnctl/vpnctl/render/swanctl"
)

// mutations are single edits of a connection, with what each of them alone does.
var mutations = []struct {
	name string
	edit func(*swanctl.Connection)
	want effect
}{
	{"nothing", func(*swanctl.Connection) {}, stays},
	{"address", func(c *swanctl.Connection) { c.Address = c.Address.Next() }, endAll},
	{"local ID", func(c *swanctl.Connection) { c.LocalID += "9" }, endAll},
	{"remote ID", func(c *swanctl.Connection) { c.RemoteID += "x" }, endAll},
	{"IKE proposals", func(c *swanctl.Connection) { c.Proposals = append(c.Proposals[:1:1], "aes256gcm16-prfsha384-ecp384") }, endAll},
	{"IKE interval", func(c *swanctl.Connection) { c.Lifetime += time.Hour }, waits},
	{"DPD delay", func(c *swanctl.Connection) { c.DPDDelay += time.Second }, waits},
	{"DPD timeout", func(c *swanctl.Connection) { c.DPDTimeout += time.Second }, waits},
	{"child interval", func(c *swanctl.Connection) { c.Children[0].Lifetime += time.Hour }, waits},
	{"child remote", func(c *swanctl.Connection) { c.Children[len(c.Children)-1].Remote = networks("10.77.0.0/16") }, endChildren},
	{"child proposals", func(c *swanctl.Connection) { c.Children[0].Proposals = []string{"aes128gcm16"} }, endChildren},
	{"child added", func(c *swanctl.Connection) {
		c.Children = append(c.Children, swanctl.Child{
			Name: strings.Repeat("more", max(1, len(c.Children)-1)), Local: c.Children[0].Local, Remote: networks("10.78.0.0/16"), Proposals: []string{"aes256gcm16"}, Lifetime: time.Hour,
		})
	}, endChildren},
	{"child removed", func(c *swanctl.Connection) { c.Children = c.Children[:1] }, endChildren},
	{"local network", func(c *swanctl.Connection) {
		for i := range c.Children {
			c.Children[i].Local = netip.MustParsePrefix("100.64.9.0/24")
		}
	}, endAll},
	{"local network of the second child", func(c *swanctl.Connection) {
		c.Children[len(c.Children)-1].Local = netip.MustParsePrefix("100.64.9.0/24")
	}, endAll},
}

func networks(texts ...string) []netip.Prefix {
	var all []netip.Prefix
	for _, t := range texts {
		all = append(all, netip.MustParsePrefix(t))
	}
	return all
}

func TestWhatAChangeDoes(t *testing.T) {
	for _, m := range mutations {
		was, now := connection("ina", 3), connection("ina", 3)
		m.edit(&now)
		if got, _ := change(was, now); got != m.want {
			t.Errorf("%s: %d, want %d", m.name, got, m.want)
		}
	}
}

func TestWhichChildrenEnd(t *testing.T) {
	for sentence, c := range map[string]struct {
		edit func(*swanctl.Connection)
		want []string
	}{
		"the changed one":         {mutations[9].edit, []string{"ina-10-0-7-0-24"}},
		"the new one, by name":    {mutations[11].edit, []string{"more"}},
		"the removed one":         {mutations[12].edit, []string{"ina-10-0-7-0-24"}},
		"a new one and a lost":    {func(c *swanctl.Connection) { mutations[11].edit(c); c.Children = c.Children[1:] }, []string{"ina-10-0-6-0-24", "more"}},
		"not one with new timers": {func(c *swanctl.Connection) { mutations[8].edit(c); mutations[9].edit(c) }, []string{"ina-10-0-7-0-24"}},
	} {
		now := connection("ina", 3)
		c.edit(&now)
		_, got := change(connection("ina", 3), now)
		if diff := cmp.Diff(c.want, got); diff != "" {
			t.Errorf("%s (-want +got)\n%s", sentence, diff)
		}
	}
}

// TestThePlanSaysTheSame: what a plan calls nothing, a reload or a reconnect is what
// happens here, for every pair of edits and for long random chains of them.
func TestThePlanSaysTheSame(t *testing.T) {
	agree := func(t *testing.T, was, now swanctl.Connection, edits ...string) {
		t.Helper()
		got, _ := change(was, now)
		impact := judge(t, was, now)
		agrees := map[effect]bool{
			stays: impact == plan.ImpactNone, waits: impact == plan.ImpactReload,
			endChildren: impact == plan.ImpactReconnect, endAll: impact == plan.ImpactReconnect || impact == plan.ImpactCustomer,
		}[got]
		if !agrees {
			t.Errorf("%v: the agent does %d, the plan says %s", edits, got, impact)
		}
	}
	for _, a := range mutations {
		for _, b := range mutations {
			was, now := connection("ina", 3), connection("ina", 3)
			a.edit(&was)
			b.edit(&now)
			agree(t, was, now, a.name, b.name)
			a.edit(&now)
			agree(t, was, now, a.name, b.name+" and "+a.name)
		}
	}
	random := rand.New(rand.NewPCG(3, 14))
	for range 300 {
		was, now := connection("ina", 3), connection("ina", 3)
		var edits []string
		for range random.IntN(4) {
			m := mutations[random.IntN(len(mutations))]
			edits = append(edits, m.name)
			m.edit(&now)
		}
		agree(t, was, now, edits...)
	}
}

// judge asks package render about the rendered files.
func judge(t *testing.T, was, now swanctl.Connection) plan.Impact {
	t.Helper()
	object := func(c swanctl.Connection) resource.Resource {
		text, err := swanctl.Config{Connections: []swanctl.Connection{c}}.Text()
		if err != nil {
			t.Fatal(err)
		}
		if back, err := swanctl.Parse(text); err != nil || !reflect.DeepEqual(back.Connections[0], c) {
			t.Fatalf("the file doesn't say what was written: %v", err)
		}
		content, err := json.Marshal(map[string]any{"data": map[string]string{pod.KeySwanctl: text}})
		if err != nil {
			t.Fatal(err)
		}
		return resource.Resource{Object: &resource.Object{Kind: "ConfigMap", Content: string(content)}}
	}
	return render.Judge(object(was), object(now)).Impact
}
