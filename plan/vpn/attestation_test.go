package vpn_test

import (
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	ipsecv1alpha1 "github.com/vpnctl/vpnctl/crds/ipsec/v1alpha1"
	"github.com/vpnctl/vpnctl/plan/vpn"
)

func attestedAs(text string) vpn.Link {
	return vpn.Link{Annotations: map[string]string{ipsecv1alpha1.AnnotationAttested: text}}
}

func TestAttested(t *testing.T) {
	day := time.Date(2026, 11, 30, 0, 0, 0, 0, time.UTC)
	for text, want := range map[string]vpn.Attestation{
		"network team; 2026-11-30":                          {Who: "network team", At: day},
		"  network team\t;2026-11-30\n":                     {Who: "network team", At: day},
		"Größe & Söhne (ops@example.com); 2026-11-30":       {Who: "Größe & Söhne (ops@example.com)", At: day},
		"x; 2026-11-30T09:30:00Z":                           {Who: "x", At: day.Add(9*time.Hour + 30*time.Minute)},
		"x; 2026-11-30t09:30:00.5z":                         {Who: "x", At: day.Add(9*time.Hour + 30*time.Minute + 500*time.Millisecond)},
		"x; 2026-11-30T09:30:00+02:00":                      {Who: "x", At: day.Add(7*time.Hour + 30*time.Minute)},
		"x; 2028-02-29":                                     {Who: "x", At: time.Date(2028, 2, 29, 0, 0, 0, 0, time.UTC)},
		strings.Repeat("ö", 200) + "; 2026-11-30T00:00:00Z": {Who: strings.Repeat("ö", 200), At: day},
	} {
		got, err := attestedAs(text).Attested()
		if err != nil {
			t.Errorf("%q: %v", text, err)
			continue
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("%q (-want +got)\n%s", text, diff)
		}
	}
}

// Whoever is refused learns what is wrong and how it is written.
func TestNotAttested(t *testing.T) {
	for text, why := range map[string]string{
		"":                                     "it is empty",
		" \n":                                  "it is empty",
		"true":                                 "no semicolon",
		"network team, 2026-11-30":             "no semicolon",
		"; 2026-11-30":                         "nobody is named",
		" ; 2026-11-30":                        "nobody is named",
		"x;":                                   "no date",
		"x; 2026-11-30; y":                     "not an RFC 3339 date",
		"x; y; 2026-11-30":                     "not an RFC 3339 date",
		"x; 30.11.2026":                        "not an RFC 3339 date",
		"x; 2026-11-30 09:30:00Z":              "not an RFC 3339 date",
		"x; 2026-11-30T09:30:00":               "not an RFC 3339 date",
		"x; 2026-11-30T9:30:00Z":               "not an RFC 3339 date",
		"x; 2026-11-30T09:30:00,5Z":            "not an RFC 3339 date",
		"x; 2026-11-30T09:30:00+99:00":         "not an RFC 3339 date",
		"x; 2026-02-29":                        "not a day and time that exists",
		"x; 2026-13-01T00:00:00Z":              "not a day and time that exists",
		"x; 2026-11-30T24:00:00Z":              "not a day and time that exists",
		"a\x00b; 2026-11-30":                   "can't be printed",
		"a\nb; 2026-11-30":                     "can't be printed",
		"a\u202eb; 2026-11-30":                 "can't be printed",
		"a\xffb; 2026-11-30":                   "can't be printed",
		strings.Repeat("ö", 201) + "; 2026-01": "has 201 characters, and 200 are the most",
	} {
		got, err := attestedAs(text).Attested()
		if !errors.Is(err, vpn.ErrAttestation) || errors.Is(err, vpn.ErrNotAttested) || got != (vpn.Attestation{}) {
			t.Errorf("%q: %v, %v", text, got, err)
			continue
		}
		for _, part := range []string{why, ipsecv1alpha1.AnnotationAttested, "<who>; <RFC 3339 date>"} {
			if !strings.Contains(err.Error(), part) {
				t.Errorf("%q: %v, want %q in it", text, err, part)
			}
		}
	}
	_, err := vpn.Link{Annotations: map[string]string{"other": "x; 2026-11-30"}}.Attested()
	if !errors.Is(err, vpn.ErrNotAttested) || errors.Is(err, vpn.ErrAttestation) || !strings.Contains(err.Error(), "<who>; <RFC 3339 date>") {
		t.Errorf("without the annotation: %v", err)
	}
}

func TestAbandons(t *testing.T) {
	for text, want := range map[string]bool{"true": true, "false": false, "True": false, "yes": false, "": false} {
		l := vpn.Link{Annotations: map[string]string{ipsecv1alpha1.AnnotationAbandon: text}}
		if l.Abandons() != want {
			t.Errorf("%q: %v", text, !want)
		}
	}
	if (vpn.Link{}).Abandons() {
		t.Error("without the annotation")
	}
}

// Whatever an annotation holds, it is read or refused with a reason; and what is read is
// what the grammar allows.
func FuzzAttested(f *testing.F) {
	f.Add("network team; 2026-11-30")
	f.Add("x;2026-11-30T09:30:00.123456789+23:59")
	f.Add(";;\xff")
	f.Fuzz(func(t *testing.T, text string) {
		a, err := attestedAs(text).Attested()
		if err != nil {
			if !errors.Is(err, vpn.ErrAttestation) {
				t.Errorf("%q: %v", text, err)
			}
			return
		}
		if n := len([]rune(a.Who)); n < 1 || n > 200 || strings.ContainsAny(a.Who, ";\n\r\x00") {
			t.Errorf("%q: %q attests", text, a.Who)
		}
		again, err := attestedAs(a.Who + "; " + a.At.Format(time.RFC3339Nano)).Attested()
		if err != nil || again.Who != a.Who || !again.At.Equal(a.At) {
			t.Errorf("%q: written again it is %v, %v", text, again, err)
		}
	})
}
