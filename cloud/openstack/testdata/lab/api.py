"""A login to the lab's cloud, and "find it by name or make it"."""
from keystoneauth1 import adapter
from keystoneauth1 import session
from keystoneauth1.identity import v3


class Cloud:
    """One user's view: an adapter for each service, which raises on errors."""

    def __init__(self, auth_url, user, password, project, endpoints):
        self.session = session.Session(v3.Password(
            auth_url=auth_url, username=user, password=password,
            project_name=project, user_domain_id="default",
            project_domain_id="default"), timeout=60)
        self.session.session.trust_env = False
        self.project = self.session.get_project_id()
        self.user = self.session.get_user_id()
        self.identity = self._service(auth_url)
        self.network = self._service(endpoints["network"] + "/v2.0")
        self.compute = self._service(endpoints["compute"],
                                     default_microversion="2.79",
                                     service_type="compute")
        self.image = self._service(endpoints["image"] + "/v2")

    def _service(self, url, **options):
        return adapter.Adapter(self.session, endpoint_override=url,
                               status_code_retries=6, **options)


def ensure(service, path, kind, name, query="", **attributes):
    """The one object of this name at path, made if there is none."""
    collection = path.rsplit("/", 1)[-1]
    found = service.get("%s?name=%s%s" % (path, name, query)).json()
    if found[collection]:
        return found[collection][0]
    return service.post(path, json={
        kind: dict(attributes, name=name)}).json()[kind]
