"""Neutron mechanism driver of a cloud that has an API and no agents.

A port that names a host is bound to it at once and reported ACTIVE: without
that, its binding would fail and Nova would refuse to attach it.  A floating
IP's status follows a moment after its association, as with an L3 agent.
"""
import eventlet
from neutron_lib import constants
from neutron_lib import context
from neutron_lib.callbacks import events
from neutron_lib.callbacks import registry
from neutron_lib.callbacks import resources
from neutron_lib.plugins import constants as plugins
from neutron_lib.plugins import directory
from neutron_lib.plugins.ml2 import api
from oslo_log import log

LOG = log.getLogger(__name__)
AGENT_DELAY = 0.3  # seconds


class Driver(api.MechanismDriver):

    connectivity = "l2"

    def initialize(self):
        for event in (events.AFTER_CREATE, events.AFTER_UPDATE):
            registry.subscribe(self.floating_ip_changed,
                               resources.FLOATING_IP, event)

    def bind_port(self, port):
        segment = port.segments_to_bind[0]
        port.set_binding(segment[api.ID], "ovs",
                         {"port_filter": True, "connectivity": "l2"},
                         status=constants.PORT_STATUS_ACTIVE)

    def floating_ip_changed(self, resource, event, trigger, payload=None):
        # Not now: when a deleted port lets go of its address, this runs
        # within that transaction, and would wait for its locks.
        eventlet.spawn_after(AGENT_DELAY, report, payload.resource_id)


def report(floating_ip):
    """Reports what is so by now: reports of several changes may overtake each
    other, as they come from several processes."""
    router = directory.get_plugin(plugins.L3)
    admin = context.get_admin_context()
    try:
        for _ in range(3):
            used = router.get_floatingip(admin, floating_ip)["port_id"]
            router.update_floatingip_status(
                admin, floating_ip,
                constants.FLOATINGIP_STATUS_ACTIVE if used
                else constants.FLOATINGIP_STATUS_DOWN)
            if router.get_floatingip(admin, floating_ip)["port_id"] == used:
                return
    except Exception as err:  # deleted meanwhile, as a rule
        LOG.info("status of floating IP %s: %s", floating_ip, err)
