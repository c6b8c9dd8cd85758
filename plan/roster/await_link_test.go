package roster

import (
	"testing"

	"github.com/google/go-cmp/cmp"
)

// TestAwaitOfALink: it is ready as its manifest is now, and only an edit mends what its
// manifest asks for wrongly.
func TestAwaitOfALink(t *testing.T) {
	link := func(all ...Condition) Link { return Link{Name: "north", Touched: true, Manifest: conditions(all...)} }
	deleted := link(says("Ready", Unknown, "Deleting", "openstack.route/north: 409", 2))
	deleted.Deleting = noon
	for sentence, c := range map[string]struct {
		link Link
		goal Goal
		want Verdict
	}{
		"ready":                           {link(says("Ready", True, "Ready", "", 2)), GoalReady, Verdict{Met: true, Text: "ready"}},
		"ready as it was before the edit": {link(says("Ready", True, "Ready", "", 1)), GoalReady, Verdict{Text: "status is of an older version of the manifest (generation 1, now 2), and said True"}},
		"not looked at":                   {Link{Name: "north"}, GoalReady, Verdict{Text: "not looked at yet"}},
		"its leg": {link(says("LegAttached", False, "AllocationFailed", "full", 2), says("Ready", False, "AllocationFailed", "LegAttached: full", 2)), GoalReady,
			Verdict{Text: "AllocationFailed: LegAttached: full"}},
		"not valid":                 {link(says("Validated", False, "InvalidSpec", "x", 2), says("Ready", False, "InvalidSpec", "Validated: x", 2)), GoalReady, Verdict{Stuck: true, Text: "InvalidSpec: x"}},
		"not valid before the edit": {link(says("Validated", False, "InvalidSpec", "x", 1)), GoalReady, Verdict{Text: "its status has no condition Ready: nobody writes conditions here"}},
		"nobody attests it": {link(says("TenantIsolationAttested", False, "AttestationMissing", "x", 2), says("Ready", False, "AttestationMissing", "TenantIsolationAttested: x", 2)), GoalReady,
			Verdict{Stuck: true, Text: "AttestationMissing: x"}},
		"nobody can read who attests it":        {link(says("TenantIsolationAttested", False, "AttestationMalformed", "x", 2)), GoalReady, Verdict{Stuck: true, Text: "AttestationMalformed: x"}},
		"a Secret of a name that isn't its own": {link(says("CredentialsResolved", False, "SecretNameNotAllowed", "x", 2)), GoalReady, Verdict{Stuck: true, Text: "SecretNameNotAllowed: x"}},
		"a credential of another project":       {link(says("CredentialsResolved", False, "CredentialsProjectMismatch", "x", 2)), GoalReady, Verdict{Stuck: true, Text: "CredentialsProjectMismatch: x"}},
		"the operator's credential":             {link(says("CredentialsResolved", False, "CredentialsAreOperatorProject", "x", 2)), GoalReady, Verdict{Stuck: true, Text: "CredentialsAreOperatorProject: x"}},
		"another project's, before the edit":    {link(says("CredentialsResolved", False, "CredentialsProjectMismatch", "x", 1), says("Ready", False, "Y", "y", 2)), GoalReady, Verdict{Text: "Y: y"}},
		"a credential that may come":            {link(says("CredentialsResolved", False, "SecretNotFound", "x", 2), says("Ready", False, "SecretNotFound", "x", 2)), GoalReady, Verdict{Text: "SecretNotFound: x"}},
		"it is to go, and stands":               {link(says("Ready", True, "Ready", "", 2)), GoalDeleted, Verdict{Text: "nobody has deleted it"}},
		"it goes":                               {deleted, GoalDeleted, Verdict{Text: "Deleting: is being deleted: openstack.route/north: 409"}},
		"it goes, and is to stay":               {deleted, GoalReady, Verdict{Stuck: true, Text: "Deleting: is being deleted: openstack.route/north: 409"}},
	} {
		if diff := cmp.Diff(c.want, c.link.Await(c.goal)); diff != "" {
			t.Errorf("%s (-want +got):\n%s", sentence, diff)
		}
	}
}
