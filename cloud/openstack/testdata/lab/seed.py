"""Fills the lab: seed.py identity, then seed.py cloud.  Both may be repeated.

The operator's project holds what vpnctl expects to find: the network
vpn-transit, the router gateway-router and the servers worker-1 to worker-3.
The customer's project holds a network with a router of its own.  The cloud
customer of clouds.yaml logs in to it, and those whose names begin so do not:
each has another fault.
"""
import datetime
import os
import sys
import time

from api import Cloud
from api import ensure

LAB, AUTH_URL, PASSWORD = (os.environ[k] for k in (
    "LAB", "AUTH_URL", "PASSWORD"))
ENDPOINTS = {k: os.environ[k.upper() + "_URL"] for k in (
    "network", "compute", "placement", "image")}

USERS = (  # name, project, roles
    ("services", "service", ("admin", "service")),
    ("operator", "operator", ("member",)),
    ("operator-admin", "operator", ("member", "admin")),
    ("customer", "customer", ("member",)),
    ("stranger", "stranger", ("member",)),
    ("visitor", "visitor", ()),
)
WORKERS = ("worker-1", "worker-2", "worker-3")
ENTRY = """\
  %s:
    auth_type: %s
    region_name: RegionOne
    identity_api_version: 3
    auth:
      auth_url: %s
"""
DEFAULT = {"user_domain_name": "Default", "project_domain_name": "Default"}


def login(user, project):
    return Cloud(AUTH_URL, user, PASSWORD, project, ENDPOINTS)


def identity():
    keystone = login("admin", "admin").identity
    for kind, url in ENDPOINTS.items():
        service = ensure(keystone, "/services", "service", kind, type=kind)
        query = "/endpoints?service_id=" + service["id"]
        if not keystone.get(query).json()["endpoints"]:
            for interface in ("public", "internal"):
                keystone.post("/endpoints", json={"endpoint": {
                    "service_id": service["id"], "interface": interface,
                    "region_id": "RegionOne", "url": url}})
    for name, project, roles in USERS:
        project = ensure(keystone, "/projects", "project", project,
                         domain_id="default")
        user = ensure(keystone, "/users", "user", name, domain_id="default",
                      password=PASSWORD)
        for role in roles:
            role = ensure(keystone, "/roles", "role", role)
            keystone.put("/projects/%s/users/%s/roles/%s" % (
                project["id"], user["id"], role["id"]))


def application_credential(cloud, name="vpnctl-lab", **attributes):
    """Its secret is the lab's password, so nothing need be remembered."""
    made = ensure(cloud.identity,
                  "/users/%s/application_credentials" % cloud.user,
                  "application_credential", name, secret=PASSWORD,
                  **attributes)
    return {"application_credential_id": made["id"],
            "application_credential_secret": PASSWORD}


def revoked(cloud):
    """A credential that there was."""
    made = application_credential(cloud, "revoked")
    cloud.identity.delete("/users/%s/application_credentials/%s" % (
        cloud.user, made["application_credential_id"]))
    return made


def expired(cloud):
    """Keystone makes none that has expired already: this one soon will have."""
    end = datetime.datetime.now(datetime.timezone.utc)
    end += datetime.timedelta(seconds=2)
    return application_credential(
        cloud, "expired", expires_at=end.strftime("%Y-%m-%dT%H:%M:%S.%fZ"))


def password(user, **project):
    return dict(DEFAULT, username=user, password=PASSWORD, **project)


def faulty(customer):
    """What is taken for the customer's credential, and does not serve."""
    return {
        "customer-reader": application_credential(
            customer, "reader", roles=[{"name": "reader"}]),
        "customer-revoked": revoked(customer),
        "customer-expired": expired(customer),
        "customer-unscoped": password("customer"),
        "customer-roleless": password("visitor", project_name="customer"),
    }


def network(cloud, name, cidr, **attributes):
    """A network with one subnet: .1 is the gateway, .10 to .250 are given."""
    query = "&project_id=" + cloud.project
    prefix = cidr.rsplit(".", 1)[0]
    net = ensure(cloud.network, "/networks", "network", name, query,
                 **attributes)
    subnet = ensure(
        cloud.network, "/subnets", "subnet", name + "-v4", query,
        network_id=net["id"], ip_version=4, cidr=cidr, enable_dhcp=False,
        gateway_ip=prefix + ".1", allocation_pools=[
            {"start": prefix + ".10", "end": prefix + ".250"}])
    return net["id"], subnet["id"]


def router(cloud, name, external, subnet):
    """A router to the external network, with the subnet's gateway address."""
    made = ensure(cloud.network, "/routers", "router", name,
                  "&project_id=" + cloud.project,
                  external_gateway_info={"network_id": external})
    ports = cloud.network.get("/ports?device_id=" + made["id"]).json()["ports"]
    if not any(ip["subnet_id"] == subnet
               for port in ports for ip in port["fixed_ips"]):
        cloud.network.put("/routers/%s/add_router_interface" % made["id"],
                          json={"subnet_id": subnet})


def blank_image(admin):
    found = admin.image.get("/images?name=blank").json()["images"]
    blank = found[0] if found else admin.image.post("/images", json={
        "name": "blank", "disk_format": "raw", "container_format": "bare",
        "visibility": "public"}).json()
    if blank["status"] != "active":
        admin.image.put("/images/%s/file" % blank["id"], data=b"\0" * 512,
                        headers={"Content-Type": "application/octet-stream"})
    return blank["id"]


def flavor(admin):
    for found in admin.compute.get("/flavors").json()["flavors"]:
        if found["name"] == "worker":
            return found["id"]
    return admin.compute.post("/flavors", json={"flavor": {
        "name": "worker", "ram": 512, "vcpus": 1,
        "disk": 1}}).json()["flavor"]["id"]


def servers(admin, operator, net):
    """Boots the workers that are missing and waits for all of them."""
    def listed():
        found = operator.compute.get("/servers/detail").json()["servers"]
        return {s["name"]: s for s in found}

    have = listed()
    missing = [name for name in WORKERS if name not in have]
    if missing:
        body = {"flavorRef": flavor(admin), "imageRef": blank_image(admin),
                "networks": [{"uuid": net}]}
    for name in missing:
        operator.compute.post("/servers", json={
            "server": dict(body, name=name)})
    end = time.time() + 180
    while {listed()[name]["status"] for name in WORKERS} != {"ACTIVE"}:
        bad = [s for s in listed().values() if s["status"] == "ERROR"]
        if bad or time.time() > end:
            sys.exit("servers do not start: %s" % [
                (s["name"], s["status"], s.get("fault")) for s in bad])
        time.sleep(0.5)


def quotas(admin, project):
    """Wide enough for hundreds of gateways."""
    admin.network.put("/quotas/" + project, json={"quota": {
        "port": 20000, "security_group": 5000, "security_group_rule": 50000,
        "floatingip": 1000, "network": 500, "subnet": 500, "router": 500,
        "rbac_policy": 500}})


def cloud():
    admin = login("admin", "admin")
    owners = {name: login(name, project)
              for name, project, roles in USERS[1:] if roles}
    operator, customer = owners["operator"], owners["customer"]
    for project in (operator.project, customer.project):
        quotas(admin, project)
    external, _ = network(
        admin, "public", "203.0.113.0/24", **{
            "router:external": True, "provider:network_type": "flat",
            "provider:physical_network": "public"})
    _, transit = network(operator, "vpn-transit", "10.254.0.0/24")
    nodes, node_subnet = network(operator, "cluster", "10.250.0.0/24")
    _, site = network(customer, "customer-net", "10.60.0.0/24")
    router(operator, "gateway-router", external, transit)
    router(operator, "cluster-router", external, node_subnet)
    router(customer, "customer-router", external, site)
    servers(admin, operator, nodes)
    clouds = {name: application_credential(owner)
              for name, owner in owners.items()}
    clouds["customer-password"] = password("customer", project_name="customer")
    clouds["admin"] = password("admin", project_name="admin")
    write_clouds(dict(clouds, **faulty(customer)))


def write_clouds(clouds):
    path = os.path.join(LAB, "clouds.yaml")
    with open(os.open(path, os.O_CREAT | os.O_WRONLY | os.O_TRUNC, 0o600),
              "w") as out:
        out.write("clouds:\n")
        for name, auth in clouds.items():
            kind = "password" if "password" in auth else (
                "v3applicationcredential")
            out.write(ENTRY % (name, kind, AUTH_URL))
            for key, value in auth.items():
                out.write("      %s: %s\n" % (key, value))
    with open(os.path.join(LAB, "env"), "w") as out:
        out.write("export OS_CLIENT_CONFIG_FILE='%s'\n" % path)
        out.write("export OS_CLOUD=operator\n")


if __name__ == "__main__":
    {"identity": identity, "cloud": cloud}[sys.argv[1]]()
