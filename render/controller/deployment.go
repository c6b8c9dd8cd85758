package controller

import (
	"fmt"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/intstr"
)

// Where the container finds things.
const (
	estateName = "vpnctl-estate"
	estateKey  = "vpnctl.yaml"
	estateDir  = "/etc/vpnctl"
	cloudsDir  = "/etc/openstack"
	port       = 8080
)

// nobody is who the image runs as on its own.
const nobody = int64(65534)

// grace is how long a replica that is told to stop may take, in seconds: the call to the
// cloud that is in flight ends first, which may wait two minutes for its answer, and then
// the lock and the Lease are given back.
const grace = int64(150)

// estate is the Estate's file. It is mounted as a folder: an edit arrives in the pods
// within a minute or so, and counts from the next round on.
func (i Install) estate() object {
	return object{"v1", "ConfigMap", estateName, corev1.ConfigMap{ObjectMeta: i.meta(estateName), Data: map[string]string{estateKey: i.EstateFile}}}
}

// deployment starts a new replica before it ends an old one: those that stand by take the
// Lease over once it is given back.
func (i Install) deployment() object {
	history, deadline := int32(3), int32(600)
	none, one := intstr.FromInt32(0), intstr.FromInt32(1)
	return object{appsv1.SchemeGroupVersion.String(), "Deployment", Name, appsv1.Deployment{
		ObjectMeta: i.meta(Name),
		Spec: appsv1.DeploymentSpec{
			Replicas: &i.Replicas,
			Selector: &metav1.LabelSelector{MatchLabels: labels()},
			Template: corev1.PodTemplateSpec{ObjectMeta: metav1.ObjectMeta{Labels: labels()}, Spec: i.pod()},
			Strategy: appsv1.DeploymentStrategy{
				Type:          appsv1.RollingUpdateDeploymentStrategyType,
				RollingUpdate: &appsv1.RollingUpdateDeployment{MaxUnavailable: &none, MaxSurge: &one},
			},
			RevisionHistoryLimit:    &history,
			ProgressDeadlineSeconds: &deadline,
		},
	}}
}

func (i Install) pod() corev1.PodSpec {
	yes, no, grace, user := true, false, grace, nobody
	return corev1.PodSpec{
		Volumes:                       i.volumes(),
		Containers:                    []corev1.Container{i.container()},
		RestartPolicy:                 corev1.RestartPolicyAlways,
		TerminationGracePeriodSeconds: &grace,
		DNSPolicy:                     corev1.DNSClusterFirst,
		ServiceAccountName:            Name,
		DeprecatedServiceAccount:      Name,
		AutomountServiceAccountToken:  &yes,
		SecurityContext: &corev1.PodSecurityContext{
			RunAsUser: &user, RunAsGroup: &user, RunAsNonRoot: &yes, FSGroup: &user,
			SeccompProfile: &corev1.SeccompProfile{Type: corev1.SeccompProfileTypeRuntimeDefault},
		},
		SchedulerName:             corev1.DefaultSchedulerName,
		EnableServiceLinks:        &no,
		TopologySpreadConstraints: []corev1.TopologySpreadConstraint{apart(corev1.LabelHostname), apart(corev1.LabelTopologyZone)},
	}
}

// apart keeps the replicas on different nodes and in different zones, where there are
// several. During a rollout each generation counts for itself.
func apart(topology string) corev1.TopologySpreadConstraint {
	return corev1.TopologySpreadConstraint{
		MaxSkew: 1, TopologyKey: topology, WhenUnsatisfiable: corev1.ScheduleAnyway,
		LabelSelector: &metav1.LabelSelector{MatchLabels: labels()}, MatchLabelKeys: []string{"pod-template-hash"},
	}
}

func (i Install) container() corev1.Container {
	no, yes := false, true
	c := corev1.Container{
		Name:    "controller",
		Image:   i.Image,
		Command: []string{"vpnctl", "reconcile"},
		Args:    []string{"--estate", estateDir + "/" + estateKey, "--listen", fmt.Sprintf(":%d", port)},
		Ports:   []corev1.ContainerPort{{Name: "http", ContainerPort: port, Protocol: corev1.ProtocolTCP}},
		Resources: corev1.ResourceRequirements{
			Requests: corev1.ResourceList{corev1.ResourceCPU: resource.MustParse("50m"), corev1.ResourceMemory: resource.MustParse("128Mi")},
			Limits:   corev1.ResourceList{corev1.ResourceMemory: resource.MustParse("512Mi")},
		},
		VolumeMounts:             []corev1.VolumeMount{{Name: "estate", MountPath: estateDir, ReadOnly: true}},
		LivenessProbe:            probe("/healthz", 15, 4),
		ReadinessProbe:           probe("/readyz", 5, 3),
		TerminationMessagePath:   corev1.TerminationMessagePathDefault,
		TerminationMessagePolicy: corev1.TerminationMessageFallbackToLogsOnError,
		ImagePullPolicy:          corev1.PullIfNotPresent,
		SecurityContext: &corev1.SecurityContext{
			Capabilities:             &corev1.Capabilities{Drop: []corev1.Capability{"ALL"}},
			Privileged:               &no,
			ReadOnlyRootFilesystem:   &yes,
			AllowPrivilegeEscalation: &no,
		},
	}
	if i.OperatorStopped {
		c.Args = append(c.Args, "--operator-stopped")
	}
	if i.Estate.OpenStack.Cloud == "" { // the login is OS_* variables
		c.EnvFrom = []corev1.EnvFromSource{{SecretRef: &corev1.SecretEnvSource{LocalObjectReference: corev1.LocalObjectReference{Name: i.Secret}}}}
		return c
	}
	c.Env = []corev1.EnvVar{{Name: "OS_CLIENT_CONFIG_FILE", Value: cloudsDir + "/clouds.yaml"}}
	c.VolumeMounts = append(c.VolumeMounts, corev1.VolumeMount{Name: "openstack", MountPath: cloudsDir, ReadOnly: true})
	return c
}

// volumes hold the Estate's file and the login. Nobody but the pod's own group may read
// the latter.
func (i Install) volumes() []corev1.Volume {
	all, own := int32(0o444), int32(0o440)
	list := []corev1.Volume{{Name: "estate", VolumeSource: corev1.VolumeSource{ConfigMap: &corev1.ConfigMapVolumeSource{
		LocalObjectReference: corev1.LocalObjectReference{Name: estateName}, DefaultMode: &all,
	}}}}
	if i.Estate.OpenStack.Cloud == "" {
		return list
	}
	return append(list, corev1.Volume{Name: "openstack", VolumeSource: corev1.VolumeSource{Secret: &corev1.SecretVolumeSource{
		SecretName: i.Secret, DefaultMode: &own,
	}}})
}

func probe(path string, period, failures int32) *corev1.Probe {
	return &corev1.Probe{
		ProbeHandler:   corev1.ProbeHandler{HTTPGet: &corev1.HTTPGetAction{Path: path, Port: intstr.FromString("http"), Scheme: corev1.URISchemeHTTP}},
		TimeoutSeconds: 5, PeriodSeconds: period, SuccessThreshold: 1, FailureThreshold: failures,
	}
}
