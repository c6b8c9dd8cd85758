//go:build e2e

package lab

import (
	"bufio"
	"fmt"
	"net/http"
	"syscall"
	"time"

	corev1 "k8s.io/api/core/v1"

	"github.com/vpnctl/vpnctl/agent/lab/netns"
)

// probe runs the container's probes with their periods and thresholds until the
// process ends.
func (c *container) probe(ended chan struct{}) {
	if c.spec.StartupProbe != nil && !c.startup(ended) {
		return
	}
	if c.spec.ReadinessProbe == nil {
		c.setReady(true)
	} else {
		go c.repeat(c.spec.ReadinessProbe, ended, c.setReady)
	}
	c.repeat(c.spec.LivenessProbe, ended, func(well bool) {
		if !well {
			c.unfit()
		}
	})
}

// unfit ends the container for its probe's sake. The kubelet asks first and forces
// after the grace period; a process that hangs doesn't listen, so the lab forces.
func (c *container) unfit() {
	c.mu.Lock()
	c.unwell++
	c.mu.Unlock()
	c.signal(syscall.SIGKILL)
}

func (c *container) setReady(ready bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.ready = ready && c.process != nil
}

func (c *container) startup(ended chan struct{}) bool {
	p := c.spec.StartupProbe
	for range p.FailureThreshold {
		if c.ask(p) == nil {
			return true
		}
		select {
		case <-ended:
			return false
		case <-time.After(time.Duration(p.PeriodSeconds) * time.Second):
		}
	}
	c.unfit()
	return false
}

// repeat asks every period, and tells what follows from the answers.
func (c *container) repeat(p *corev1.Probe, ended chan struct{}, tell func(bool)) {
	failures := int32(0)
	for {
		if c.ask(p) == nil {
			failures = 0
			tell(true)
		} else if failures++; failures == p.FailureThreshold {
			tell(false)
		}
		select {
		case <-ended:
			return
		case <-time.After(time.Duration(p.PeriodSeconds) * time.Second):
		}
	}
}

func (c *container) ask(p *corev1.Probe) error {
	if p.Exec != nil {
		_, err := c.exec(p.Exec.Command...)
		return err
	}
	_, err := c.pod.get(int(p.HTTPGet.Port.IntVal), p.HTTPGet.Path, time.Duration(p.TimeoutSeconds)*time.Second)
	return err
}

// get asks the pod over HTTP, as the kubelet and Prometheus do.
func (p *pod) get(port int, path string, within time.Duration) (string, error) {
	return fetch(p.cluster, "", fmt.Sprintf("%s:%d", p.eth0, port), path, within)
}

// fetch makes one HTTP request from a namespace, and returns the answer's body.
func fetch(n netns.Namespace, from, to, path string, within time.Duration) (string, error) {
	conn, err := n.Dial(from, to, within)
	if err != nil {
		return "", err
	}
	defer conn.Close()
	if err := conn.SetDeadline(time.Now().Add(within)); err != nil {
		return "", err
	}
	request, err := http.NewRequest("GET", "http://"+to+path, nil)
	if err != nil {
		return "", err
	}
	request.Close = true
	if err := request.Write(conn); err != nil {
		return "", err
	}
	return readBody(bufio.NewReader(conn), request)
}
