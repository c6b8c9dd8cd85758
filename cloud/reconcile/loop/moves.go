package loop

import (
	"context"
	"encoding/json"
	"fmt"

	"github.com/vpnctl/vpnctl/cloud"
)

// reasonMoved is that of the event which tells that a gateway went to another node.
const reasonMoved = "Moved"

// noteMove tells people that a gateway went from one node to another.
func (r *round) noteMove(ctx context.Context, m cloud.Manifest, s cloud.Status) {
	now, _ := s.Fields["nodeName"].(string)
	var before struct{ NodeName string }
	if now == "" || m.Status == nil || json.Unmarshal(m.Status, &before) != nil || before.NodeName == "" || before.NodeName == now {
		return
	}
	h := cloud.Happening{Reason: reasonMoved, Message: fmt.Sprintf("moved from node %s to node %s", before.NodeName, now)}
	r.Log.Info("moved", "manifest", name(m), "from", before.NodeName, "to", now)
	if err := r.Herald.Event(ctx, m, h); err != nil {
		r.Log.Warn("noting an event", "manifest", name(m), "error", err) // the status names the node as well
	}
}
