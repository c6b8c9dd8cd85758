# The libraries of the services, without the packages that would set up and
# start them: no questions, no users, nothing that runs by itself.

PACKAGES=(curl mariadb-server-core mariadb-client rabbitmq-server
          uwsgi-core uwsgi-plugin-python3 python3-pymysql python3-keystone
          python3-neutron python3-nova python3-placement python3-glance
          python3-openstackclient)

# The Python that Debian's modules are for; the first on PATH may be another.
python() { /usr/bin/python3 "$@"; }
python_for() { timeout "$1" /usr/bin/python3 "${@:2}"; } # python_for SECONDS FILE...

versions() { dpkg-query -W -f '${db:Status-Status} ${Package} ${Version}\n' "${PACKAGES[@]}" 2>/dev/null; }

install_packages() {
    [ "$(versions | grep -c ^installed)" -lt ${#PACKAGES[@]} ] || return 0
    as_root ../../../../testdata/install "${PACKAGES[@]}" >>"$LOG/apt.log" 2>&1 </dev/null ||
        { tail -n 20 "$LOG/apt.log" >&2; return 1; }
}

as_root() { if [ "$(id -u)" = 0 ]; then "$@"; else sudo "$@"; fi; }
