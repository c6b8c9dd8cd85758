package plan

import (
	"testing"

	"github.com/vpnctl/vpnctl/plan/resource"
)

// TestLostFilesHideNoImpact loses what was rendered: a gateway that was applied
// and should change runs with nobody knows what.
func TestLostFilesHideNoImpact(t *testing.T) {
	deployment := dc1().id(kindDeployment)
	for name, test := range map[string]struct {
		after site
		edit  func(*world)
		want  Impact
	}{
		"the files alone are lost":             {dc1(), nil, ImpactNone},
		"the manifests changed besides":        {dc1().with(func(s *site) { s.image = "vpnctl:2" }), nil, ImpactRestart},
		"the cloud side alone is planned":      {dc1().with(func(s *site) { s.image = "vpnctl:2" }), func(w *world) { w.Options.Only = OnlyCloud }, ImpactNone},
		"it was never applied":                 {dc1().with(func(s *site) { s.image = "vpnctl:2" }), unapplied, ImpactNone},
		"another peer, and nobody knows which": {two(), nil, ImpactRestart},
	} {
		t.Run(name, func(t *testing.T) {
			w := between([]site{dc1()}, []site{test.after})
			lose(w)
			if test.edit != nil {
				test.edit(w)
			}
			p := Make(w.Input)
			if s := p.Summary(); s.Worst != test.want {
				t.Errorf("worst impact %s, want %s: %v", s.Worst, test.want, outline(p))
			}
			exceeds := false
			for _, c := range p.Exceeds(ImpactRestart) {
				exceeds = exceeds || c.ID == deployment
			}
			if exceeds != (test.want == ImpactRestart) {
				t.Errorf("the Deployment exceeds restart: %v", exceeds)
			}
		})
	}
}

func unapplied(w *world) {
	w.Ledgers[0].Applied = ""
	delete(w.Observed, dc1().id(resource.KindApplied))
}
