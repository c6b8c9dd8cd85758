# Configuration files from the templates in etc/, and the plugins' entry point.

write_config() {
    local name section plugin=$LAB/plugin
    SITE=$(python -c 'import neutron, os; print(os.path.dirname(os.path.dirname(neutron.__file__)))')
    DB=mysql+pymysql://lab:$PASSWORD@127.0.0.1:$DB_PORT
    for name in keystone.conf glance-paste.ini nova-paste.ini rabbitmq.conf; do
        expand "etc/$name" >"$ETC/$name"
    done
    for name in neutron placement glance nova; do
        expand "etc/$name.conf" >"$ETC/$name.conf"
        for section in keystone_authtoken neutron nova placement service_user; do
            expand etc/identity.conf | sed "s|@SECTION@|$section|"
        done >>"$ETC/$name.conf"
    done
    echo '[].' >"$ETC/rabbitmq.plugins"

    # What Neutron's driver loader reads is the metadata of an installed package.
    mkdir -p "$plugin/vpnctl_lab-1.dist-info"
    cp plugin/*.py "$plugin"
    printf 'Metadata-Version: 2.1\nName: vpnctl-lab\nVersion: 1\n' >"$plugin/vpnctl_lab-1.dist-info/METADATA"
    printf '[neutron.ml2.mechanism_drivers]\nvpnctl_lab = lab_ml2:Driver\n' \
        >"$plugin/vpnctl_lab-1.dist-info/entry_points.txt"
}

expand() { # expand FILE...: fills in @NAME@
    sed -e "s|@ETC@|$ETC|g; s|@DATA@|$DATA|g; s|@SITE@|$SITE|g; s|@DB@|$DB|g" \
        -e "s|@AUTH_URL@|$AUTH_URL|g; s|@PASSWORD@|$PASSWORD|g" \
        -e "s|@NEUTRON_PORT@|$NEUTRON_PORT|g; s|@NOVA_PORT@|$NOVA_PORT|g" \
        -e "s|@GLANCE_PORT@|$GLANCE_PORT|g; s|@MQ_PORT@|$MQ_PORT|g" "$@"
}

service() { # service MODULE ARGUMENT...: a service's own command
    env PYTHONPATH="$LAB/plugin" /usr/bin/python3 "$LAB/plugin/run.py" "$@"
}
