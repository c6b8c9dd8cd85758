package board

import (
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/vpnctl/vpnctl/cloud"
	"github.com/vpnctl/vpnctl/cloud/reconcile/standing"
)

// metrics are what a controller measures. A scrape asks nobody anything.
type metrics struct {
	registry *prometheus.Registry
	changes  *prometheus.CounterVec
	rounds   prometheus.Histogram
	blind    prometheus.Counter
	statuses prometheus.Counter
}

// counted is a driver that counts its calls.
type counted interface{ Calls() int }

func newMetrics(b *Board, drivers []cloud.Driver) *metrics {
	m := &metrics{
		registry: prometheus.NewRegistry(),
		changes: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "vpnctl_reconcile_changes_total", Help: "Changes that were tried, by action and result (done, failed, skipped).",
		}, []string{"action", "result"}),
		rounds: prometheus.NewHistogram(prometheus.HistogramOpts{
			Name: "vpnctl_reconcile_round_seconds", Help: "How long a round took.", Buckets: []float64{.1, .3, 1, 3, 10, 30, 100, 300},
		}),
		blind:    counter("unobserved_total", "Rounds that could not look at the cloud or the cluster."),
		statuses: counter("status_writes_total", "Statuses of manifests that were written."),
	}
	m.registry.MustRegister(m.changes, m.rounds, m.blind, m.statuses, boardMetrics{b})
	for _, d := range drivers {
		if n, counts := d.(counted); counts {
			m.registry.MustRegister(prometheus.NewCounterFunc(prometheus.CounterOpts{
				Name: "vpnctl_reconcile_cloud_calls_total", Help: "Calls to the cloud, Keystone's left out.",
			}, func() float64 { return float64(n.Calls()) }))
		}
	}
	return m
}

func counter(name, help string) prometheus.Counter {
	return prometheus.NewCounter(prometheus.CounterOpts{Name: "vpnctl_reconcile_" + name, Help: help})
}

// Change counts a change that was tried.
func (b *Board) Change(e cloud.Event) {
	b.metrics.changes.WithLabelValues(string(e.Change.Action), string(e.State)).Inc()
}

// Took takes down how long a round took, whatever came of it.
func (b *Board) Took(d time.Duration) { b.metrics.rounds.Observe(d.Seconds()) }

// Unobserved counts a round that could not look, and takes down why.
func (b *Board) Unobserved(err error) {
	b.metrics.blind.Inc()
	b.Failed(err)
}

// Written counts a status that was written.
func (b *Board) Written() { b.metrics.statuses.Inc() }

// boardMetrics are those of what the board shows.
type boardMetrics struct{ *Board }

func gauge(name, help string, labels ...string) *prometheus.Desc {
	return prometheus.NewDesc(name, help, labels, nil)
}

var (
	leading     = gauge("vpnctl_reconcile_leader", "1 if this replica runs the rounds, and writes.")
	gateways    = gauge("vpnctl_reconcile_gateways", "Gateways by whether they are ready (true, false, unknown).", "ready")
	links       = gauge("vpnctl_reconcile_links", "Links by whether they are ready (true, false, unknown).", "ready")
	pending     = gauge("vpnctl_reconcile_pending_changes", "Changes of the last plan that are not done.")
	drifted     = gauge("vpnctl_reconcile_drifted_objects", "Objects that the last plan found changed by another hand.")
	orphaned    = gauge("vpnctl_reconcile_orphans", "Gateways and links that stand although their manifest went without being deleted.")
	refusedOnes = gauge("vpnctl_reconcile_refusals", "Things that manifests ask for and that must not be done.")
	success     = gauge("vpnctl_reconcile_last_success_timestamp_seconds", "When a round last looked at the whole estate.")
	fileGood    = gauge("vpnctl_reconcile_estate_valid", "1 if the Estate's file counts as it is; 0 while the last good one does.")
	ratio       = gauge("ipsec_operator_servicecidr_allocated_ratio", "Share of the service CIDR pool's /24s that are allocated.")
)

// Describe lists every metric.
func (b boardMetrics) Describe(ch chan<- *prometheus.Desc) {
	for _, d := range []*prometheus.Desc{leading, gateways, links, pending, drifted, orphaned, refusedOnes, success, fileGood, ratio} {
		ch <- d
	}
}

// Collect shows the board. Who doesn't lead knows nothing of the estate, and says so.
func (b boardMetrics) Collect(ch chan<- prometheus.Metric) {
	b.mu.Lock()
	defer b.mu.Unlock()
	show := func(d *prometheus.Desc, v float64, labels ...string) {
		ch <- prometheus.MustNewConstMetric(d, prometheus.GaugeValue, v, labels...)
	}
	show(leading, one(b.leading && !b.dry))
	if !b.leading || b.looked.IsZero() {
		return
	}
	ready := map[*prometheus.Desc]map[string]int{gateways: {}, links: {}}
	for o, s := range b.standing {
		of := gateways
		if !o.Gateway() {
			of = links
		}
		ready[of][s.Ready().Status]++
	}
	for of, n := range ready {
		show(of, float64(n[standing.True]), "true")
		show(of, float64(n[standing.False]), "false")
		show(of, float64(n[standing.Unknown]), "unknown")
	}
	show(pending, float64(b.pending))
	show(drifted, float64(b.drift))
	show(orphaned, float64(len(b.orphans)))
	show(refusedOnes, float64(len(b.refusals)))
	show(success, float64(b.looked.UnixNano())/1e9)
	show(fileGood, one(b.problem == ""))
	show(ratio, b.allotted)
}

func one(is bool) float64 {
	if is {
		return 1
	}
	return 0
}
