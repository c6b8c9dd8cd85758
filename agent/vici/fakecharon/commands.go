package fakecharon

import (
	"fmt"
	"maps"
	"slices"
	"strconv"
	"time"
)

// result is what a command gives: events of its own before the answer, the answer,
// and what everybody hears afterwards.
type result struct {
	stream []packet
	answer Message
	events []packet
}

func done(answer Message) result {
	answer["success"] = "yes"
	return result{answer: answer}
}

func refuse(format string, args ...any) result {
	return result{answer: Message{"success": "no", "errmsg": fmt.Sprintf(format, args...)}}
}

// commands run under the daemon's lock.
var commands = map[string]func(*Charon, Message) result{
	"version": func(*Charon, Message) result {
		return result{answer: Message{"daemon": "charon-systemd", "version": "5.9.8"}}
	},
	"load-conn":   (*Charon).loadConn,
	"unload-conn": (*Charon).unloadConn,
	"get-conns": func(c *Charon, _ Message) result {
		return result{answer: Message{"conns": slices.Clone(c.names)}}
	},
	"load-shared":   (*Charon).loadShared,
	"unload-shared": (*Charon).unloadShared,
	"get-shared": func(c *Charon, _ Message) result {
		return result{answer: Message{"keys": slices.Sorted(maps.Keys(c.keys))}}
	},
	"initiate":  (*Charon).initiate,
	"terminate": (*Charon).terminate,
	"list-sas":  (*Charon).listSAs,
}

func (c *Charon) loadConn(in Message) result {
	for name, v := range in {
		conf, ok := v.(Message)
		if !ok || len(conf.section("local")) == 0 || len(conf.section("remote")) == 0 {
			return refuse("invalid configuration, config discarded")
		}
		if _, there := c.connections[name]; !there {
			c.names = append(c.names, name)
		}
		c.connections[name] = conf
	}
	return done(Message{})
}

func (c *Charon) unloadConn(in Message) result {
	name := in.text("name")
	if _, ok := c.connections[name]; !ok {
		return refuse("unload: connection '%s' not found", name)
	}
	delete(c.connections, name)
	c.names = slices.DeleteFunc(c.names, func(n string) bool { return n == name })
	return done(Message{})
}

func (c *Charon) loadShared(in Message) result {
	if _, ok := in["data"]; !ok {
		return refuse("shared key data missing")
	}
	if in.text("type") != "IKE" {
		return refuse("invalid shared key type: %s", in.text("type"))
	}
	c.keys[in.text("id")] = Key{Owners: in.list("owners"), Data: []byte(in.text("data"))}
	return done(Message{})
}

// unloadShared succeeds for a key that isn't there, too.
func (c *Charon) unloadShared(in Message) result {
	delete(c.keys, in.text("id"))
	return done(Message{})
}

func (c *Charon) listSAs(Message) result {
	out := result{answer: Message{}}
	for _, sa := range c.sas {
		out.stream = append(out.stream, packet{kind: event, name: "list-sa", body: c.message(sa, sa.Children)})
	}
	return out
}

func (c *Charon) initiate(in Message) result {
	name, child := in.text("ike"), in.text("child")
	conf := c.connections[name]
	if conf.section("children").section(child) == nil {
		return refuse("CHILD_SA config '%s' not found", child)
	}
	out := done(Message{})
	i := slices.IndexFunc(c.sas, func(s SA) bool { return s.Connection == name })
	switch peer := c.peers[name]; {
	case i >= 0 && c.sas[i].State != "ESTABLISHED":
		c.sas[i].Tasks = append(c.sas[i].Tasks, "CHILD_CREATE")
	case i < 0 && peer.Silent:
		c.sas = append(c.sas, SA{Connection: name, State: "CONNECTING", Tasks: []string{"IKE_INIT", "IKE_AUTH", "CHILD_CREATE"}})
		c.number()
	case !c.keyed(conf):
		out.events = c.log(name, fmt.Sprintf("no shared key found for '%s' - '%s'", conf.section("local").text("id"), conf.section("remote").text("id")))
	case peer.Notify != "" && peer.Notify != "TS_UNACCEPTABLE":
		out.events = c.log(name, "received "+peer.Notify+" notify error")
	default:
		out.events = c.establish(name, child, peer)
	}
	return out
}

// keyed tells whether a key's owners include the peer.
func (c *Charon) keyed(conf Message) bool {
	for _, key := range c.keys {
		if slices.Contains(key.Owners, conf.section("remote").text("id")) {
			return true
		}
	}
	return false
}

// establish brings up what isn't up, as charon does: an SA that is there is used.
func (c *Charon) establish(name, child string, peer Peer) []packet {
	var told []packet
	i := slices.IndexFunc(c.sas, func(s SA) bool { return s.Connection == name })
	if i < 0 {
		i = len(c.sas)
		c.sas = append(c.sas, SA{Connection: name, State: "ESTABLISHED", Since: time.Now(), RekeyIn: 14000})
		c.number()
		told = append(told, updown("ike-updown", true, c.message(c.sas[i], nil)))
	}
	sa := &c.sas[i]
	if slices.ContainsFunc(sa.Children, func(ch Child) bool { return ch.Name == child && ch.State == "INSTALLED" }) {
		return told
	}
	if peer.Notify != "" {
		return append(told, c.log(name, "received "+peer.Notify+" notify, no CHILD_SA built")...)
	}
	remote := c.connections[name].section("children").section(child).list("remote_ts")
	sa.Children = append(sa.Children, Child{Name: child, State: "INSTALLED", RekeyIn: 3500, Remote: remote})
	c.number()
	return append(told, updown("child-updown", true, c.message(*sa, sa.Children[len(sa.Children)-1:])))
}

// log is a line of the log about a connection.
func (c *Charon) log(name, line string) []packet {
	return []packet{{kind: event, name: "log", body: Message{
		"group": "IKE", "level": "1", "thread": "7", "ikesa-name": name, "ikesa-uniqueid": strconv.Itoa(c.last), "msg": line,
	}}}
}

func (c *Charon) terminate(in Message) result {
	name, child, id := in.text("ike"), in.text("child"), in.text("ike-id")
	match := func(s SA) bool {
		return (name == "" || s.Connection == name) && (id == "" || strconv.Itoa(s.ID) == id)
	}
	matches := 0
	var told []packet
	for i, s := range c.sas {
		if !match(s) {
			continue
		}
		if child == "" {
			matches++
			continue
		}
		var kept []Child
		for _, ch := range s.Children {
			if ch.Name != child {
				kept = append(kept, ch)
				continue
			}
			matches++
			if c.peers[s.Connection].Silent {
				ch.State = "DELETING"
				kept = append(kept, ch)
				continue
			}
			told = append(told, updown("child-updown", false, c.message(s, []Child{ch})))
		}
		c.sas[i].Children = kept
	}
	if matches == 0 {
		out := refuse("no matching SAs to terminate found")
		out.answer["matches"], out.answer["terminated"] = "0", "0"
		return out
	}
	if child == "" {
		told = c.end(match)
	}
	out := done(Message{"matches": strconv.Itoa(matches), "terminated": strconv.Itoa(matches)})
	out.events = told
	return out
}
