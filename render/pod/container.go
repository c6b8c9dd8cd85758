package pod

import (
	"github.com/vpnctl/vpnctl/render/swanctl"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	"k8s.io/apimachinery/pkg/util/intstr"
)

// Where the containers find things.
const (
	ConfigDir = "/etc/vpnctl/gateway" // the protocol's ConfigMap
	RulesDir  = "/etc/vpnctl/nat"     // the ruleset's ConfigMap
	RunDir    = "/run/vpnctl"         // the memory volume: sockets, state, keys on their way
	DeviceDir = "/run/wireguard"      // the socket of a WireGuard device that is not the kernel's
)

// containers are charon for IPsec, and the two halves of the agent: one may change
// the network and has no token, the other has a token and may change nothing.
func (s Spec) containers(resources corev1.ResourceRequirements) []corev1.Container {
	all := []corev1.Container{s.dataplane(), s.status()}
	if s.ipsec() {
		all = append([]corev1.Container{s.charon()}, all...)
	}
	for i := range all {
		all[i].Image = s.image()
		all[i].ImagePullPolicy = corev1.PullIfNotPresent
		all[i].Resources = resources
		all[i].TerminationMessagePath = corev1.TerminationMessagePathDefault
		all[i].TerminationMessagePolicy = corev1.TerminationMessageFallbackToLogsOnError
	}
	return all
}

// charon runs in the foreground and without a pid file. It is alive while it answers
// on its socket: a process that hangs doesn't.
func (s Spec) charon() corev1.Container {
	ask := corev1.ProbeHandler{Exec: &corev1.ExecAction{
		Command: []string{"swanctl", "--stats", "--uri", "unix://" + swanctl.Socket},
	}}
	return corev1.Container{
		Name:            "charon",
		Command:         []string{"charon-systemd"},
		Env:             []corev1.EnvVar{{Name: "STRONGSWAN_CONF", Value: ConfigDir + "/" + KeyDaemon}},
		SecurityContext: confined("NET_ADMIN", "NET_BIND_SERVICE"), // charon asks for the second by name
		VolumeMounts:    s.charonMounts(),
		StartupProbe:    probe(ask, 2, 30),
		LivenessProbe:   probe(ask, 15, 3),
	}
}

func (s Spec) dataplane() corev1.Container {
	return corev1.Container{
		Name:            "dataplane",
		Command:         []string{"vpnctl", "agent", "dataplane"},
		Args:            []string{"--config", ConfigDir, "--rules", RulesDir, "--run", RunDir},
		Ports:           []corev1.ContainerPort{{Name: "health", ContainerPort: DataplanePort, Protocol: corev1.ProtocolTCP}},
		SecurityContext: confined("NET_ADMIN"),
		VolumeMounts:    s.dataplaneMounts(),
		LivenessProbe:   probe(get("/healthz", DataplanePort), 15, 3),
		ReadinessProbe:  probe(get("/readyz", DataplanePort), 5, 3),
	}
}

func (s Spec) status() corev1.Container {
	return corev1.Container{
		Name:            "status",
		Command:         []string{"vpnctl", "agent", "status"},
		Args:            []string{"--config", ConfigDir, "--run", RunDir},
		Ports:           []corev1.ContainerPort{{Name: "metrics", ContainerPort: MetricsPort, Protocol: corev1.ProtocolTCP}},
		SecurityContext: confined(),
		VolumeMounts:    []corev1.VolumeMount{configMount, runMount, tokenMount},
		LivenessProbe:   probe(get("/healthz", MetricsPort), 15, 3),
		ReadinessProbe:  probe(get("/readyz", MetricsPort), 5, 3),
	}
}

// confined takes every capability but the given ones. All containers run as root
// inside the pod, because charon's socket is for its own user and group alone.
func confined(capabilities ...corev1.Capability) *corev1.SecurityContext {
	no, yes, root := false, true, int64(0)
	return &corev1.SecurityContext{
		Capabilities:             &corev1.Capabilities{Add: capabilities, Drop: []corev1.Capability{"ALL"}},
		Privileged:               &no,
		RunAsUser:                &root,
		ReadOnlyRootFilesystem:   &yes,
		AllowPrivilegeEscalation: &no,
	}
}

func probe(handler corev1.ProbeHandler, period, failures int32) *corev1.Probe {
	return &corev1.Probe{ProbeHandler: handler, TimeoutSeconds: 5, PeriodSeconds: period, SuccessThreshold: 1, FailureThreshold: failures}
}

func get(path string, port int32) corev1.ProbeHandler {
	return corev1.ProbeHandler{HTTPGet: &corev1.HTTPGetAction{Path: path, Port: intstr.FromInt32(port), Scheme: corev1.URISchemeHTTP}}
}

// defaultResources of each container, where the estate gives none.
func defaultResources() corev1.ResourceRequirements {
	return corev1.ResourceRequirements{
		Requests: corev1.ResourceList{corev1.ResourceCPU: resource.MustParse("20m"), corev1.ResourceMemory: resource.MustParse("32Mi")},
		Limits:   corev1.ResourceList{corev1.ResourceMemory: resource.MustParse("256Mi")},
	}
}
