package state

import (
	"slices"
	"strings"
)

// operatorUID begin the tag by which an operator knows its objects again; the UID of
// their manifest follows. The second one stands under Prefix.
var operatorUID = []string{"ipsec.bnerd.net/uid=", Prefix + "uid="}

// OperatorTags are the tags that an operator's objects for the manifest of this UID may
// carry: one of them does.
func OperatorTags(uid string) []string {
	var tags []string
	for _, head := range operatorUID {
		tags = append(tags, head+uid)
	}
	return tags
}

// OperatorUIDs are the UIDs in an operator's tags on an object, sorted, each once.
func OperatorUIDs(tags []string) []string {
	var uids []string
	for _, t := range tags {
		for _, head := range operatorUID {
			if uid, is := strings.CutPrefix(t, head); is {
				uids = append(uids, uid)
			}
		}
	}
	slices.Sort(uids)
	return slices.Compact(uids)
}

// WithoutOperator are the tags of an object without an operator's.
func WithoutOperator(tags []string) []string {
	return slices.DeleteFunc(slices.Clone(tags), func(t string) bool { return len(OperatorUIDs([]string{t})) > 0 })
}
