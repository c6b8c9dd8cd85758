package manifest

import (
	"io"
	"net/url"
	"path/filepath"
)

// The part of SARIF 2.1.0 that code scanning reads.
type (
	sarifLog struct {
		Schema  string     `json:"$schema"`
		Version string     `json:"version"`
		Runs    []sarifRun `json:"runs"`
	}
	sarifRun struct {
		Tool       sarifTool      `json:"tool"`
		ColumnKind string         `json:"columnKind"`
		Results    []sarifResult  `json:"results"`
		Properties map[string]int `json:"properties,omitempty"`
	}
	sarifTool struct {
		Driver sarifDriver `json:"driver"`
	}
	sarifDriver struct {
		Name  string      `json:"name"`
		Rules []sarifRule `json:"rules"`
	}
	sarifRule struct {
		ID   string    `json:"id"`
		Text sarifText `json:"shortDescription"`
	}
	sarifText struct {
		Text string `json:"text"`
	}
	sarifResult struct {
		RuleID    string          `json:"ruleId"`
		Level     Severity        `json:"level"`
		Message   sarifText       `json:"message"`
		Locations []sarifLocation `json:"locations"`
		Related   []sarifLocation `json:"relatedLocations,omitempty"`
	}
	sarifLocation struct {
		Physical sarifPhysical `json:"physicalLocation"`
	}
	sarifPhysical struct {
		Artifact sarifArtifact `json:"artifactLocation"`
		Region   *sarifRegion  `json:"region,omitempty"`
	}
	sarifArtifact struct {
		URI string `json:"uri"`
	}
	sarifRegion struct {
		Line   int `json:"startLine"`
		Column int `json:"startColumn,omitempty"`
	}
)

// sarifRuleID is the one rule that results belong to: their sentences differ too
// much for a catalogue to say more than they do.
const sarifRuleID = "manifest"

// WriteSARIF writes a SARIF 2.1.0 log, which code scanning services read. It holds
// up to 1,000 results, and the number of those omitted as a property of its run.
func (d Diagnostics) WriteSARIF(w io.Writer) error {
	d, left := d.shown(maxMachine)
	run := sarifRun{
		Tool: sarifTool{sarifDriver{
			Name:  "vpnctl",
			Rules: []sarifRule{{sarifRuleID, sarifText{"A gateway manifest must be readable, complete and without contradiction."}}},
		}},
		ColumnKind: "unicodeCodePoints",
		Results:    []sarifResult{},
	}
	if left > 0 {
		run.Properties = map[string]int{"omitted": left}
	}
	for _, x := range d {
		result := sarifResult{
			RuleID: sarifRuleID, Level: x.Severity, Message: sarifText{x.sentence()},
			Locations: []sarifLocation{location(x.Position())},
		}
		for _, p := range x.Related {
			result.Related = append(result.Related, location(p))
		}
		run.Results = append(run.Results, result)
	}
	return writeJSON(w, sarifLog{
		Schema: "https://json.schemastore.org/sarif-2.1.0.json", Version: "2.1.0", Runs: []sarifRun{run},
	})
}

func location(p Position) sarifLocation {
	l := sarifLocation{sarifPhysical{Artifact: sarifArtifact{(&url.URL{Path: filepath.ToSlash(p.File)}).String()}}}
	if p.Line > 0 {
		l.Physical.Region = &sarifRegion{p.Line, p.Column}
	}
	return l
}
