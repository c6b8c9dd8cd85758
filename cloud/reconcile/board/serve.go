package board

import (
	"bytes"
	"cmp"
	_ "embed"
	"html/template"
	"maps"
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/prometheus/client_golang/prometheus/promhttp"

	"github.com/vpnctl/vpnctl/cloud/reconcile/standing"
	"github.com/vpnctl/vpnctl/plan"
	"github.com/vpnctl/vpnctl/plan/vpn"
)

// Handler serves what a controller shows, whether it leads or stands by.
//
//	/          the status page: read only, and without a secret
//	/metrics   for Prometheus
//	/healthz   200 while the loop is at work, or stands by
//	/readyz    200 once the estate was looked at, or while standing by for another one
func (b *Board) Handler() http.Handler {
	mux := http.NewServeMux()
	mux.HandleFunc("GET /healthz", func(w http.ResponseWriter, _ *http.Request) { answer(w, b.healthy()) })
	mux.HandleFunc("GET /readyz", func(w http.ResponseWriter, _ *http.Request) { answer(w, b.ready()) })
	mux.Handle("GET /metrics", promhttp.HandlerFor(b.metrics.registry, promhttp.HandlerOpts{}))
	mux.HandleFunc("GET /{$}", b.page)
	return mux
}

func answer(w http.ResponseWriter, err error) {
	if err != nil {
		http.Error(w, err.Error(), http.StatusServiceUnavailable)
		return
	}
	_, _ = w.Write([]byte("ok\n"))
}

//go:embed page.html
var pageText string

var pageTemplate = template.Must(template.New("page").Funcs(template.FuncMap{
	"ago":   func(t time.Time) string { return time.Since(t).Round(time.Second).String() + " ago" },
	"lower": strings.ToLower,
}).Parse(pageText))

// shownSteps is how many changes of a plan are kept for the page.
const shownSteps = 200

// page writes the status page. It needs no script and nothing from elsewhere.
func (b *Board) page(w http.ResponseWriter, _ *http.Request) {
	var text bytes.Buffer
	if err := pageTemplate.Execute(&text, b.view()); err != nil {
		http.Error(w, err.Error(), http.StatusInternalServerError)
		return
	}
	h := w.Header()
	h.Set("Content-Type", "text/html; charset=utf-8")
	h.Set("Content-Security-Policy", "default-src 'none'; style-src 'unsafe-inline'; frame-ancestors 'none'")
	h.Set("X-Content-Type-Options", "nosniff")
	h.Set("Cache-Control", "no-store")
	_, _ = w.Write(text.Bytes())
}

// view is what the page shows.
type view struct {
	DryRun, Leading         bool
	Standby                 Standby
	Estate, Problem         string
	Looked, Since, Planned  time.Time
	Took                    time.Duration
	Trouble                 string
	Ready, NotReady, Unsure int
	Gateways, Links         []standing.Gateway
	Lines                   map[vpn.Owner]plan.Owner
	Orphans                 []vpn.Owner
	Unheard                 map[string]string
	Refusals                []plan.Refusal
	Notices                 []plan.Notice
	Steps                   []step
	More                    int
}

func (b *Board) view() view {
	b.mu.Lock()
	defer b.mu.Unlock()
	v := view{
		DryRun: b.dry, Leading: b.leading, Standby: b.standby, Estate: cmp.Or(b.estate, b.standby.Estate), Problem: b.problem, Looked: b.looked, Since: b.since, Planned: b.planned,
		Took: b.took.Round(time.Millisecond), Trouble: b.trouble, Lines: b.lines,
		Orphans: b.orphans, Unheard: maps.Clone(b.unheard), Refusals: b.refusals, Notices: slices.Concat(b.others, b.notices), Steps: b.last, More: b.more,
	}
	for _, s := range b.standings() {
		if s.Owner.Gateway() {
			v.Gateways = append(v.Gateways, s)
		} else {
			v.Links = append(v.Links, s)
		}
		switch s.Ready().Status {
		case standing.True:
			v.Ready++
		case standing.False:
			v.NotReady++
		default:
			v.Unsure++
		}
	}
	return v
}

// Line is what the last plan says of a gateway.
func (v view) Line(o vpn.Owner) plan.Owner { return v.Lines[o] }
