package resolve

import (
	"context"
	"net/netip"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

var sameAddress = cmp.Comparer(func(a, b netip.Addr) bool { return a == b })

func TestLookup(t *testing.T) {
	s := serve(t, map[string]string{
		"one.example.org.":      "one.example.org. 60 IN A 10.20.0.5",
		"upper.example.org.":    "UPPER.example.org. 60 IN A 10.20.0.5",
		"two.example.org.":      "two.example.org. 60 IN A 10.20.0.7\ntwo.example.org. 30 IN A 10.20.0.6",
		"both.example.org.":     "both.example.org. 60 IN AAAA 2001:db8::1\nboth.example.org. 60 IN A 10.20.0.5",
		"six.example.org.":      "six.example.org. 60 IN AAAA 2001:db8::1",
		"empty.example.org.":    "",
		"alias.example.org.":    "alias.example.org. 20 IN CNAME mid.example.org.\nmid.example.org. 10 IN CNAME one.example.org.\none.example.org. 60 IN A 10.20.0.5",
		"far.example.org.":      "far.example.org. 25 IN CNAME one.example.org.",
		"dangling.example.org.": "dangling.example.org. 25 IN CNAME nowhere.example.org.",
		"loop.example.org.":     "loop.example.org. 25 IN CNAME pool.example.org.\npool.example.org. 25 IN CNAME loop.example.org.",
		"long.example.org.":     "long.example.org. 25 IN CNAME gnol.example.org.",
		"gnol.example.org.":     "gnol.example.org. 25 IN CNAME long.example.org.",
		"other.example.org.":    "one.example.org. 60 IN A 10.20.0.5",
		"large.example.org.":    "large large.example.org. 60 IN A 10.20.0.5",
		"fail.example.org.":     "servfail",
		"refused.example.org.":  "refused",
		"silent.example.org.":   "silent",
		"mixed-up.example.org.": "another question",
		"local.example.org.":    "local.example.org. 60 IN A 127.0.0.1\nlocal.example.org. 60 IN A 169.254.169.254",
		"zero.example.org.":     "zero.example.org. 60 IN A 0.0.0.0\nzero.example.org. 60 IN A 10.20.0.5",
		"ever.example.org.":     "ever.example.org. 86400 IN A 10.20.0.5",
		"never.example.org.":    "never.example.org. 0 IN A 10.20.0.5",
	})
	r := s.resolver(t)
	for name, c := range map[string]struct {
		want Answer
		err  string
	}{
		"one.example.org":      {Answer{Addresses: addresses("10.20.0.5"), TTL: time.Minute}, ""},
		"one.example.org.":     {Answer{Addresses: addresses("10.20.0.5"), TTL: time.Minute}, ""},
		"upper.example.org":    {Answer{Addresses: addresses("10.20.0.5"), TTL: time.Minute}, ""},
		"two.example.org":      {Answer{Addresses: addresses("10.20.0.7", "10.20.0.6"), TTL: 30 * time.Second}, ""},
		"both.example.org":     {Answer{Addresses: addresses("10.20.0.5"), TTL: time.Minute}, ""},
		"six.example.org":      {Answer{}, "looking up six.example.org: the name has no IPv4 address"},
		"empty.example.org":    {Answer{}, "looking up empty.example.org: the name has no IPv4 address"},
		"none.example.org":     {Answer{}, "looking up none.example.org: no such name"},
		"alias.example.org":    {Answer{Addresses: addresses("10.20.0.5"), TTL: 10 * time.Second}, ""},
		"far.example.org":      {Answer{Addresses: addresses("10.20.0.5"), TTL: 25 * time.Second}, ""},
		"dangling.example.org": {Answer{}, "looking up dangling.example.org: no such name"},
		"loop.example.org":     {Answer{}, "the name has no IPv4 address"},
		"long.example.org":     {Answer{}, "aliases lead on and on"},
		"other.example.org":    {Answer{}, "the name has no IPv4 address"},
		"large.example.org":    {Answer{Addresses: addresses("10.20.0.5"), TTL: time.Minute}, ""},
		"fail.example.org":     {Answer{}, "answers SERVFAIL for fail.example.org."},
		"refused.example.org":  {Answer{}, "answers REFUSED for refused.example.org."},
		"silent.example.org":   {Answer{}, "looking up silent.example.org: no name server answers: "},
		"mixed-up.example.org": {Answer{}, "answers another question"},
		"local.example.org":    {Answer{}, "no IPv4 address that packets can be sent to: 169.254.169.254"},
		"zero.example.org":     {Answer{Addresses: addresses("10.20.0.5"), TTL: time.Minute}, ""},
		"ever.example.org":     {Answer{Addresses: addresses("10.20.0.5"), TTL: 5 * time.Minute}, ""},
		"never.example.org":    {Answer{Addresses: addresses("10.20.0.5"), TTL: 0}, ""},
		"10.20.0.9":            {Answer{Addresses: addresses("10.20.0.9"), TTL: 5 * time.Minute}, ""},
		"2001:db8::1":          {Answer{}, "2001:db8::1 is not an IPv4 address"},
	} {
		t.Run(name, func(t *testing.T) {
			got, err := r.Lookup(t.Context(), name)
			if (err == nil) != (c.err == "") || err != nil && !strings.Contains(err.Error(), c.err) {
				t.Errorf("error %v, want %q", err, c.err)
			}
			if err == nil {
				c.want.Name = got.Name
			}
			if diff := cmp.Diff(c.want, got, sameAddress); diff != "" {
				t.Errorf("(-want +got)\n%s", diff)
			}
		})
	}
	if asked := s.questions(); slices.ContainsFunc(asked, func(q string) bool { return !strings.HasSuffix(q, " A") }) {
		t.Errorf("asked for more than IPv4: %q", asked)
	}
}

func TestSearchList(t *testing.T) {
	const lines = "search acme.svc.cluster.local svc.cluster.local example.net"
	const acme, svc, net = "db.acme.svc.cluster.local.", "db.svc.cluster.local.", "db.example.net."
	for sentence, c := range map[string]struct {
		zone    map[string]string
		name    string
		options string
		want    string // name and address
		skipped string
		asked   []string
	}{
		"the first domain that has it": {map[string]string{svc: svc + " 5 IN A 10.0.0.2", net: net + " 5 IN A 10.0.0.3"}, "db", "ndots:5",
			svc + " 10.0.0.2", "", []string{acme, svc}},
		"a name of several parts, and then itself": {map[string]string{"erp.example.org.": "erp.example.org. 5 IN A 10.0.0.4"}, "erp.example.org", "ndots:5",
			"erp.example.org. 10.0.0.4", "", []string{"erp.example.org.acme.svc.cluster.local.", "erp.example.org.svc.cluster.local.", "erp.example.org.example.net.", "erp.example.org."}},
		"enough dots, itself first": {map[string]string{"erp.example.org.": "erp.example.org. 5 IN A 10.0.0.4"}, "erp.example.org", "ndots:2",
			"erp.example.org. 10.0.0.4", "", []string{"erp.example.org."}},
		"a full name is not searched for": {map[string]string{"db.": "db. 5 IN A 10.0.0.1", acme: acme + " 5 IN A 10.0.0.2"}, "db.", "ndots:5",
			"db. 10.0.0.1", "", []string{"db."}},
		"a name without an address is passed over": {map[string]string{acme: "", svc: svc + " 5 IN A 10.0.0.2"}, "db", "ndots:5",
			svc + " 10.0.0.2", "", []string{acme, svc}},
		"a domain that can't be asked is passed over, and said": {map[string]string{acme: "servfail", net: net + " 5 IN A 10.0.0.3"}, "db", "ndots:5",
			net + " 10.0.0.3", "SERVFAIL for " + acme, []string{acme, svc, net}},
		"nowhere": {map[string]string{}, "db", "ndots:5", "", "no such name", []string{acme, svc, net, "db."}},
		"nowhere, as far as can be told": {map[string]string{svc: "refused"}, "db", "ndots:5",
			"", "REFUSED for " + svc, []string{acme, svc, net, "db."}},
		"there, without an address": {map[string]string{svc: ""}, "db", "ndots:5",
			"", "no IPv4 address", []string{acme, svc, net, "db."}},
		"no server to ask ends the search": {map[string]string{acme: "silent"}, "db", "ndots:5",
			"", "no name server answers", []string{acme, acme}},
	} {
		t.Run(sentence, func(t *testing.T) {
			s := serve(t, c.zone)
			got, err := s.resolver(t, lines, "options "+c.options).Lookup(t.Context(), c.name)
			found := ""
			if err == nil {
				found, err = got.Name+" "+got.Addresses[0].String(), got.Skipped
			}
			if found != c.want {
				t.Errorf("found %q, want %q (%v)", found, c.want, err)
			}
			if (err == nil) != (c.skipped == "") || err != nil && !strings.Contains(err.Error(), c.skipped) {
				t.Errorf("skipped or failed with %v, want %q", err, c.skipped)
			}
			asked := s.questions()
			for i := range asked {
				asked[i] = strings.Fields(asked[i])[1]
			}
			if diff := cmp.Diff(c.asked, asked); diff != "" {
				t.Errorf("asked (-want +got)\n%s", diff)
			}
		})
	}
}

func TestSeveralServers(t *testing.T) {
	const name = "erp.example.org."
	for sentence, c := range map[string]struct {
		first, second string
		want          string
	}{
		"the first one's word counts":            {name + " 5 IN A 10.0.0.1", name + " 5 IN A 10.0.0.2", "10.0.0.1"},
		"also when it says no":                   {"", name + " 5 IN A 10.0.0.2", "no IPv4 address"},
		"the second is asked where it fails":     {"servfail", name + " 5 IN A 10.0.0.2", "10.0.0.2"},
		"and where it is silent":                 {"silent", name + " 5 IN A 10.0.0.2", "10.0.0.2"},
		"and where it answers something else":    {"another question", name + " 5 IN A 10.0.0.2", "10.0.0.2"},
		"one fails and one is silent: it failed": {"silent", "servfail", "SERVFAIL"},
		"both are silent":                        {"silent", "silent", "no name server answers"},
	} {
		t.Run(sentence, func(t *testing.T) {
			r := serveAll(t, map[string]string{name: c.first}, map[string]string{name: c.second})[0].resolver(t)
			r.Config = both(t, r.Config)
			answer, err := r.Lookup(t.Context(), name)
			got := ""
			if err != nil {
				got = err.Error()
			} else {
				got = answer.Addresses[0].String()
			}
			if !strings.Contains(got, c.want) {
				t.Errorf("%q, want %q", got, c.want)
			}
		})
	}
}

func TestResolvConfWithoutAServerIsSaid(t *testing.T) {
	missing := Resolver{Config: filepath.Join(t.TempDir(), "none")}
	if _, err := missing.Lookup(t.Context(), "erp.example.org"); err == nil || !strings.Contains(err.Error(), "no such file") {
		t.Errorf("no file: %v", err)
	}
	empty := Resolver{Config: write(t, "search example.org\n")}
	if _, err := empty.Lookup(t.Context(), "erp.example.org"); err == nil || !strings.Contains(err.Error(), "names no name server") {
		t.Errorf("no server: %v", err)
	}
}

func TestLookupEndsWithItsContext(t *testing.T) {
	s := serve(t, map[string]string{"erp.example.org.": "silent"})
	r := s.resolver(t)
	r.Timeout = time.Minute
	ctx, cancel := context.WithCancel(t.Context())
	time.AfterFunc(50*time.Millisecond, cancel)
	start := time.Now()
	if _, err := r.Lookup(ctx, "erp.example.org"); err == nil {
		t.Error("no error")
	}
	if took := time.Since(start); took > 10*time.Second {
		t.Errorf("it took %v", took)
	}
}
