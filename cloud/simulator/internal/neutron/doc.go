// Package neutron answers as Neutron v2.0 does: networks, subnets, routers, ports, security groups, floating
// IPs, RBAC policies and quotas, with tags, revision numbers, filters and pages.
//
// What it answers was measured on a real Neutron (Zed, ML2, policies of that release), server errors included
// where that release has them: a stale If-Match on a tag update, tags together with tags-any, an update of a
// security-group rule. One thing it does not show is a race: calls run one after another, so a guard by
// revision number always holds and equal rules are never made twice, unless a call is marked as racing.
package neutron
