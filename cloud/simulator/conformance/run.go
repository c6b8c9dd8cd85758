package conformance

import "testing"

// A behaviour is one sentence about the services, and the scene that shows it.
type behaviour struct {
	sentence string
	show     func(*scene)
}

// Run shows every behaviour, one after the other: the services' answers to one
// client are what is tested, and races only where a behaviour is about one.
func Run(t *testing.T, c Cloud) {
	on := setStage(t, c)
	for _, topic := range []struct {
		name       string
		behaviours []behaviour
	}{
		{"identity", identity},
		{"credentials", credentials},
		{"requests", requests},
		{"lists", lists},
		{"filters", filters},
		{"tags", tags},
		{"revisions", revisions},
		{"ports", ports},
		{"addresspairs", addressPairs},
		{"securitygroups", securityGroups},
		{"rules", rules},
		{"floatingips", floatingIPs},
		{"association", association},
		{"routers", routers},
		{"routes", routes},
		{"interfaces", interfaces},
		{"sharing", sharing},
		{"quotas", quotas},
	} {
		t.Run(topic.name, func(t *testing.T) {
			for _, b := range topic.behaviours {
				t.Run(b.sentence, func(t *testing.T) { b.show(&scene{t, on}) })
			}
		})
	}
}

// setStage logs in and finds what the cloud must hold.
func setStage(t *testing.T, c Cloud) stage {
	t.Helper()
	on := stage{cloud: c}
	for k, credential := range map[**client]Credential{
		&on.operator: c.Operator, &on.admin: c.Admin, &on.customer: c.Customer,
	} {
		var err error
		if *k, err = login(c.AuthURL, credential); err != nil {
			t.Fatal(err)
		}
	}
	s := &scene{t, on}
	on.network = s.named("networks", c.Network)
	on.router = s.named("routers", c.Router)
	on.pool = s.named("networks", c.Pool)
	subnets := s.list(on.operator, "subnets", "network_id="+on.network)
	if len(subnets) != 1 {
		t.Fatalf("network %s has %d subnets, want one", c.Network, len(subnets))
	}
	on.subnet, on.cidr = subnets[0].id(), subnets[0].text("cidr")
	servers := s.do(on.operator, "GET", "compute", "/servers/detail", nil)
	s.expect(servers, 200, "")
	for _, name := range c.Nodes {
		for _, server := range servers.body().list("servers") {
			if server.text("name") == name {
				on.nodes = append(on.nodes, server.id())
			}
		}
	}
	if len(on.nodes) < 2 {
		t.Fatalf("want two servers of %v at least, got %s", c.Nodes, servers)
	}
	return on
}

// named is the ID of the one object of that name.
func (s *scene) named(collection, name string) string {
	s.Helper()
	found := s.ids(s.operator, collection, "name="+name)
	if len(found) != 1 {
		s.Fatalf("%d %s named %s, want one", len(found), collection, name)
	}
	return found[0]
}
