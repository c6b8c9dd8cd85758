package pod

import (
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
)

// Mounts. ConfigMaps are mounted whole: a subPath would never see a change.
var (
	configMount = corev1.VolumeMount{Name: "config", MountPath: ConfigDir, ReadOnly: true}
	rulesMount  = corev1.VolumeMount{Name: "rules", MountPath: RulesDir, ReadOnly: true}
	runMount    = corev1.VolumeMount{Name: "run", MountPath: RunDir}
	tokenMount  = corev1.VolumeMount{Name: "token", MountPath: "/var/run/secrets/kubernetes.io/serviceaccount", ReadOnly: true}
	deviceMount = corev1.VolumeMount{Name: "wireguard", MountPath: DeviceDir}
	tunMount    = corev1.VolumeMount{Name: "tun", MountPath: "/dev/net/tun"}
)

func (s Spec) charonMounts() []corev1.VolumeMount {
	mounts := []corev1.VolumeMount{configMount, runMount}
	if s.userspace() {
		mounts = append(mounts, tunMount)
	}
	return mounts
}

// dataplaneMounts have the socket of a device that the agent carries itself in a
// volume of its own: whoever can reach it sets the device up, and the status container
// is to have no say in that.
func (s Spec) dataplaneMounts() []corev1.VolumeMount {
	mounts := []corev1.VolumeMount{configMount, rulesMount, runMount}
	if s.userspace() && !s.ipsec() {
		mounts = append(mounts, deviceMount, tunMount)
	}
	return mounts
}

func (s Spec) volumes() []corev1.Volume {
	all := []corev1.Volume{
		configVolume("config", ConfigName(s.Gateway)),
		configVolume("rules", RulesName(s.Gateway)),
		memory("run", "16Mi"),
		{Name: "token", VolumeSource: token()},
	}
	if s.userspace() && !s.ipsec() {
		all = append(all, memory("wireguard", "1Mi"))
	}
	if s.userspace() {
		device := corev1.HostPathCharDev
		all = append(all, corev1.Volume{Name: "tun", VolumeSource: corev1.VolumeSource{
			HostPath: &corev1.HostPathVolumeSource{Path: "/dev/net/tun", Type: &device},
		}})
	}
	return all
}

func memory(volume, size string) corev1.Volume {
	limit := resource.MustParse(size)
	return corev1.Volume{Name: volume, VolumeSource: corev1.VolumeSource{EmptyDir: &corev1.EmptyDirVolumeSource{
		Medium: corev1.StorageMediumMemory, SizeLimit: &limit,
	}}}
}

func configVolume(volume, name string) corev1.Volume {
	mode := corev1.ConfigMapVolumeSourceDefaultMode
	return corev1.Volume{Name: volume, VolumeSource: corev1.VolumeSource{ConfigMap: &corev1.ConfigMapVolumeSource{
		LocalObjectReference: corev1.LocalObjectReference{Name: name}, DefaultMode: &mode,
	}}}
}

// token is what an API client expects at the usual place, for the one container that
// mounts it.
func token() corev1.VolumeSource {
	mode, hour := corev1.ProjectedVolumeSourceDefaultMode, int64(3600)
	return corev1.VolumeSource{Projected: &corev1.ProjectedVolumeSource{
		DefaultMode: &mode,
		Sources: []corev1.VolumeProjection{
			{ServiceAccountToken: &corev1.ServiceAccountTokenProjection{Path: "token", ExpirationSeconds: &hour}},
			{ConfigMap: &corev1.ConfigMapProjection{
				LocalObjectReference: corev1.LocalObjectReference{Name: "kube-root-ca.crt"},
				Items:                []corev1.KeyToPath{{Key: "ca.crt", Path: "ca.crt"}},
			}},
			{DownwardAPI: &corev1.DownwardAPIProjection{Items: []corev1.DownwardAPIVolumeFile{{
				Path: "namespace", FieldRef: &corev1.ObjectFieldSelector{APIVersion: "v1", FieldPath: "metadata.namespace"},
			}}}},
		},
	}}
}
