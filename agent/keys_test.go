package agent

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/vpnctl/vpnctl/plan/vpn"
)

// secrets is a source of a test's making.
type secrets struct {
	data  map[string]string
	err   error
	wrong map[string]error
	asked []string
}

func (s *secrets) Secret(_ context.Context, ref vpn.SecretRef) ([]byte, bool, error) {
	s.asked = append(s.asked, ref.Name)
	if s.err != nil {
		return nil, false, s.err
	}
	if err := s.wrong[ref.Name]; err != nil {
		return nil, false, err
	}
	data, found := s.data[ref.Name]
	return []byte(data), found, nil
}

// looks lets time pass, and returns when what was asked for: seconds and names.
func looks(v *vault, s *secrets, now *time.Time, seconds int) []string {
	var all []string
	for i := range seconds {
		s.asked = nil
		for range 1000 {
			ref, wait := v.next()
			if wait > 0 {
				break
			}
			v.ask(context.Background(), ref)
		}
		if len(s.asked) > 0 {
			all = append(all, fmt.Sprintf("%d: %s", i, strings.Join(s.asked, " ")))
		}
		*now = now.Add(time.Second)
	}
	return all
}

func refs(names ...string) []vpn.SecretRef {
	var all []vpn.SecretRef
	for _, n := range names {
		all = append(all, vpn.SecretRef{Name: n, Key: "psk"})
	}
	return all
}

func testVault(s *secrets) (v *vault, now *time.Time, changes *int) {
	now, changes = new(time.Time), new(int)
	*now = start
	v = newVault(s, 30*time.Second, func() time.Time { return *now }, func() { *changes++ })
	return v, now, changes
}

func TestSecretsAreFollowed(t *testing.T) {
	s := &secrets{data: map[string]string{"ina": "one"}, wrong: map[string]error{}}
	v, now, changes := testVault(s)
	ref := refs("ina")[0]
	expect := func(when string, data string, news int, problem string) {
		t.Helper()
		*changes = 0
		looks(v, s, now, 31)
		got := v.get(ref)
		if string(got.data) != data || *changes != news || !strings.Contains(got.problem(ref), problem) || problem == "" && got.problem(ref) != "" {
			t.Errorf("%s: %q, %d changes, problem %q", when, got.data, *changes, got.problem(ref))
		}
	}
	if v.get(ref).problem(ref) == "" {
		t.Error("nothing is wrong with a Secret that was never read")
	}
	v.want(refs("ina"))
	expect("it is there", "one", 1, "")
	expect("it stays", "one", 0, "")
	s.data["ina"] = "two"
	expect("it changes", "two", 1, "")
	s.wrong["ina"] = errors.New("forbidden")
	expect("it can't be read: the value stays", "two", 1, "forbidden")
	delete(s.wrong, "ina")
	expect("it can be read again", "two", 1, "")
	delete(s.data, "ina")
	expect("it goes", "", 1, "missing")
	s.data["ina"] = ""
	expect("it is empty", "", 1, "empty")
	s.data["ina"] = "\x00\xff\n"
	expect("it is anything", "\x00\xff\n", 1, "")
	v.want(nil)
	if v.get(ref).known {
		t.Error("it is kept though nobody wants it")
	}
}

// TestAMissingSecretIsLookedForSoon: it is often made right after what names it. One
// that never comes costs no more than one that is there.
func TestAMissingSecretIsLookedForSoon(t *testing.T) {
	s := &secrets{data: map[string]string{}}
	v, now, _ := testVault(s)
	v.want(refs("ina"))
	looks(v, s, now, 3)
	s.data["ina"] = "x"
	looks(v, s, now, 5)
	if !v.get(refs("ina")[0]).found {
		t.Error("it isn't found within five seconds")
	}
	delete(s.data, "ina")
	looks(v, s, now, 120)
	if n := len(looks(v, s, now, 300)); n < 9 || n > 21 {
		t.Errorf("one that stays away was asked for %d times in five minutes", n)
	}
}

// TestAnAPIThatIsAwayIsLeftAlone: of many Secrets not each one is tried, the failures of
// one alone don't hold up the rest, and when the API is back all are read soon.
func TestAnAPIThatIsAwayIsLeftAlone(t *testing.T) {
	var names []string
	s := &secrets{data: map[string]string{}, wrong: map[string]error{}}
	for i := range 100 {
		names = append(names, fmt.Sprintf("p%02d", i))
		s.data[names[i]] = "x"
	}
	v, now, _ := testVault(s)
	v.want(refs(names...))
	s.err = errors.New("connection refused")
	asked := 0
	for _, line := range looks(v, s, now, 600) {
		asked += len(strings.Fields(line)) - 1
	}
	if asked < 20 || asked > 60 {
		t.Errorf("%d calls in ten minutes", asked)
	}
	s.err = nil
	looks(v, s, now, 31)
	for _, ref := range refs(names...) {
		if !v.get(ref).found {
			t.Fatalf("%s isn't read though the API is back", ref.Name)
		}
	}
	s.wrong["p07"] = errors.New("forbidden")
	asked = 0
	for _, line := range looks(v, s, now, 300) {
		asked += strings.Count(line, "p07")
	}
	if asked < 10 || asked > 40 {
		t.Errorf("%d calls for the one that is forbidden, in five minutes", asked)
	}
	if n := v.mistakes(); n < 30 {
		t.Errorf("%d failures are counted", n)
	}
}

// TestLooksAreSpread: each Secret is looked at about twice a minute, and new ones first.
func TestLooksAreSpread(t *testing.T) {
	s := &secrets{data: map[string]string{"a": "1", "b": "2", "c": "3"}}
	v, now, _ := testVault(s)
	v.want(refs("a", "b"))
	if diff := cmp.Diff([]string{"0: a b"}, looks(v, s, now, 10)); diff != "" {
		t.Errorf("at first (-want +got)\n%s", diff)
	}
	v.want(refs("a", "b", "c"))
	if diff := cmp.Diff([]string{"0: c"}, looks(v, s, now, 10)); diff != "" {
		t.Errorf("a new one (-want +got)\n%s", diff)
	}
	count := 0
	for _, line := range looks(v, s, now, 600) {
		count += len(strings.Fields(line)) - 1
	}
	if count < 3*20-3 || count > 3*25+3 {
		t.Errorf("three Secrets were looked at %d times in ten minutes", count)
	}
}

func TestAKeyIsNeverPrinted(t *testing.T) {
	for _, v := range []any{value{data: []byte("s3cret")}, given{owner: "ina", data: []byte("s3cret")}} {
		for _, format := range []string{"%v", "%+v", "%#v", "%s"} {
			if text := fmt.Sprintf(format, v); strings.ContainsAny(text, "[{") || strings.Contains(text, "s3cret") {
				t.Errorf("%s prints it: %s", format, text)
			}
		}
	}
}

var errAway = errors.New("the API is away")
