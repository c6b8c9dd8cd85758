// Package attr turns API objects into JSON and request bodies into API objects, led by struct tags.
//
// It is to the simulator what attribute maps are to Neutron: the one place that says which attributes a
// resource has, who sees them, and which of them a create or an update may set. The tags are
//
//	json:"name"            the attribute's name on the wire
//	api:"create,update"    which requests may set it; absent: read-only
//	set:"admin"            only the admin role may set it
//	max:"255"              the most characters of a text
//	vis:"admin"|"hidden"   who sees it; hidden attributes are state that no API shows
//
// The packages neutron, nova and store use it.
package attr
