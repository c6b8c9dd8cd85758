package vpn

import (
	"errors"
	"fmt"
	"regexp"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"
)

// Attestation says that a customer's project may be joined to the transit network.
type Attestation struct {
	Who string    // 1 to 200 printable characters, none of them a semicolon
	At  time.Time // midnight UTC where only a day was written
}

// String is "network team, 2026-11-30", with the time where one was written.
func (a Attestation) String() string {
	if a.At.Equal(a.At.UTC().Truncate(24 * time.Hour)) {
		return a.Who + ", " + a.At.UTC().Format(time.DateOnly)
	}
	return a.Who + ", " + a.At.Format(time.RFC3339)
}

// What keeps a link from being attested.
var (
	ErrNotAttested = errors.New("the tenant's isolation is not attested")
	ErrAttestation = errors.New("the attestation of the tenant's isolation can't be read")
)

// attestationGrammar is how an attestation is written.
const attestationGrammar = `it reads <who>; <RFC 3339 date>, such as "network team; 2026-11-30"`

// maxWho is how long the name of who attests may be, in characters.
const maxWho = 200

// fullDate and dateTime are the two forms of RFC 3339: what Go takes for them is wider.
var (
	fullDate = regexp.MustCompile(`^\d{4}-\d{2}-\d{2}$`)
	dateTime = regexp.MustCompile(`^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}:\d{2}(\.\d+)?(Z|[+-]([01]\d|2[0-3]):[0-5]\d)$`)
)

// Attested returns who has attested the link's customer project, and when. Without the
// annotation the error is ErrNotAttested, and ErrAttestation for one that can't be read.
// Both say how it is written.
func (l Link) Attested() (Attestation, error) {
	text, there := l.Annotations[annotationAttested]
	if !there {
		return Attestation{}, fmt.Errorf("%w: annotation %s is missing; %s", ErrNotAttested, annotationAttested, attestationGrammar)
	}
	a, err := parseAttestation(text)
	if err != nil {
		return Attestation{}, fmt.Errorf("%w: annotation %s: %w; %s", ErrAttestation, annotationAttested, err, attestationGrammar)
	}
	return a, nil
}

func parseAttestation(text string) (Attestation, error) {
	who, date, two := strings.Cut(text, ";")
	who, date = strings.TrimSpace(who), strings.TrimSpace(date)
	switch n := utf8.RuneCountInString(who); {
	case strings.TrimSpace(text) == "":
		return Attestation{}, errors.New("it is empty")
	case !two:
		return Attestation{}, errors.New("it has no semicolon")
	case who == "":
		return Attestation{}, errors.New("nobody is named before the semicolon")
	case n > maxWho:
		return Attestation{}, fmt.Errorf("who attests has %d characters, and %d are the most", n, maxWho)
	case !utf8.ValidString(who) || strings.ContainsFunc(who, func(r rune) bool { return !unicode.IsPrint(r) }):
		return Attestation{}, errors.New("who attests holds characters that can't be printed")
	case date == "":
		return Attestation{}, errors.New("no date stands after the semicolon")
	}
	at, err := attestedAt(date)
	return Attestation{who, at}, err
}

func attestedAt(date string) (time.Time, error) {
	layout, upper := time.DateOnly, strings.ToUpper(date) // the letters of a date-time may be small
	switch {
	case dateTime.MatchString(upper):
		layout = time.RFC3339
	case !fullDate.MatchString(upper):
		return time.Time{}, fmt.Errorf("%.40q is not an RFC 3339 date", date)
	}
	at, err := time.Parse(layout, upper)
	if err != nil {
		return time.Time{}, fmt.Errorf("%.40q is not a day and time that exists", date)
	}
	return at, nil
}
