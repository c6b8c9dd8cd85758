package resolve

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net"
	"net/netip"
	"time"

	"github.com/miekg/dns"
)

// Resolver asks the pod's name servers for IPv4 addresses. The zero value works.
type Resolver struct {
	Config  string        // default /etc/resolv.conf, read at each look-up
	Port    string        // of the name servers; default 53
	Timeout time.Duration // for one server's answer; default 2 s
}

// Answer is what a name stands for.
type Answer struct {
	Name      string        // the full name, as the search list made it
	Addresses []netip.Addr  // one or more, in the server's order
	TTL       time.Duration // at most 5 minutes
	Skipped   error         // a full name before it in the search list could not be looked up
}

// errUnreadable says that a name server answers what no name server should.
var errUnreadable = errors.New("the answer can't be read")

// errAway says that no name server answers at all.
var errAway = errors.New("no name server answers")

// Lookup finds a name's addresses, going through the search list as resolv.conf(5)
// has it. A name that doesn't exist, has no IPv4 address, or can't be looked up is
// an error. An IPv4 address stands for itself.
func (r Resolver) Lookup(ctx context.Context, name string) (Answer, error) {
	if address, err := netip.ParseAddr(name); err == nil {
		if !address.Is4() {
			return Answer{}, fmt.Errorf("%s is not an IPv4 address", name)
		}
		return Answer{Name: name, Addresses: []netip.Addr{address}, TTL: longest}, nil
	}
	answer, err := r.search(ctx, name)
	if err != nil {
		return Answer{}, fmt.Errorf("looking up %s: %w", name, err)
	}
	return answer, nil
}

// search tries each full name. A name server that fails over one of them may do so
// for a domain of its own that nobody needs, so the next one is tried; with none
// that answers there is no use in that.
func (r Resolver) search(ctx context.Context, name string) (Answer, error) {
	servers, names, err := r.configuration(name)
	if err != nil {
		return Answer{}, err
	}
	var skipped, missing error
	for _, full := range names {
		a, err := r.follow(ctx, servers, full)
		switch {
		case err == nil:
			a.Name, a.Skipped = full, skipped
			return a, nil
		case errors.Is(err, errAway) || ctx.Err() != nil:
			return Answer{}, err
		case errors.Is(err, errNoName):
			missing = cmp.Or(missing, err)
		case errors.Is(err, errNoAddress):
			missing = err
		default:
			skipped = cmp.Or(skipped, err)
		}
	}
	return Answer{}, cmp.Or(skipped, missing, errNoName)
}

func (r Resolver) configuration(name string) (servers, names []string, err error) {
	file := cmp.Or(r.Config, "/etc/resolv.conf")
	c, err := dns.ClientConfigFromFile(file)
	if err != nil {
		return nil, nil, err
	}
	for _, s := range c.Servers {
		servers = append(servers, net.JoinHostPort(s, cmp.Or(r.Port, "53")))
	}
	if len(servers) == 0 {
		return nil, nil, fmt.Errorf("%s names no name server", file)
	}
	return servers, c.NameList(name), nil
}

// maxAliases bounds a chain of aliases over several answers.
const maxAliases = 8

// follow asks for a full name and, where a server names an alias without saying what
// that stands for, for the alias.
func (r Resolver) follow(ctx context.Context, servers []string, name string) (Answer, error) {
	total := Answer{TTL: longest}
	for range maxAliases {
		message, err := r.ask(ctx, servers, name)
		if err != nil {
			return Answer{}, err
		}
		a, alias, err := read(message, name)
		total.TTL = min(total.TTL, a.TTL)
		if err != nil || alias == "" {
			total.Addresses = a.Addresses
			return total, err
		}
		name = alias
	}
	return Answer{}, fmt.Errorf("aliases lead on and on, to %s", name)
}

// attempts is how often a server is asked that doesn't answer.
const attempts = 2

// ask returns the first answer that settles the question: that there are addresses,
// or that there are none. One that came over UDP and didn't fit is asked for by TCP.
func (r Resolver) ask(ctx context.Context, servers []string, name string) (*dns.Msg, error) {
	question := new(dns.Msg).SetQuestion(name, dns.TypeA)
	var refused, away error
	for range attempts {
		for _, server := range servers {
			answer, err := r.exchange(ctx, "udp", server, question)
			if err == nil && answer.Truncated {
				answer, err = r.exchange(ctx, "tcp", server, question)
			}
			if ctx.Err() != nil {
				return nil, ctx.Err()
			}
			switch {
			case errors.Is(err, errUnreadable):
				refused = err
			case err != nil:
				away = cmp.Or(away, err)
			case answer.Rcode == dns.RcodeSuccess || answer.Rcode == dns.RcodeNameError:
				return answer, nil
			default:
				refused = fmt.Errorf("%s answers %s for %s", server, dns.RcodeToString[answer.Rcode], name)
			}
		}
		if refused != nil {
			return nil, refused
		}
	}
	return nil, fmt.Errorf("%w: %w", errAway, away)
}

func (r Resolver) exchange(ctx context.Context, network, server string, question *dns.Msg) (*dns.Msg, error) {
	client := &dns.Client{Net: network, Timeout: cmp.Or(r.Timeout, 2*time.Second)}
	conn, err := client.DialContext(ctx, server)
	if err != nil {
		return nil, err
	}
	defer conn.Close()
	defer context.AfterFunc(ctx, func() { conn.Close() })()
	question.Id = dns.Id()
	answer, _, err := client.ExchangeWithConnContext(ctx, question, conn)
	if err != nil && (answer != nil || errors.Is(err, dns.ErrShortRead)) { // it came, and dns.Client couldn't make anything of it
		return nil, fmt.Errorf("%w: of %s: %w", errUnreadable, server, err)
	}
	if err != nil {
		return nil, err
	}
	if len(answer.Question) != 1 || dns.CanonicalName(answer.Question[0].Name) != dns.CanonicalName(question.Question[0].Name) || !answer.Response {
		return nil, fmt.Errorf("%s answers another question", server)
	}
	return answer, nil
}
