"""Nova's fake hypervisor, made to survive a restart of nova-compute.

The fake driver remembers servers and interfaces in memory alone, and refuses
to touch what it doesn't remember.  This one takes their word for it.
"""
from nova import exception
from nova.compute import power_state
from nova.virt import fake
from nova.virt import hardware


class Driver(fake.FakeDriver):

    def get_info(self, instance, use_cache=True):
        try:
            return super().get_info(instance, use_cache=use_cache)
        except exception.InstanceNotFound:
            return hardware.InstanceInfo(state=power_state.RUNNING)

    def attach_interface(self, context, instance, image_meta, vif):
        self._interfaces[vif["id"]] = vif

    def detach_interface(self, context, instance, vif):
        self._interfaces.pop(vif["id"], None)
