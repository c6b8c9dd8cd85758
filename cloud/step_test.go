package cloud

import (
	"errors"
	"fmt"
	"testing"
)

// TestStepOfAnError: the step nearest to the fault counts, and the text stays.
func TestStepOfAnError(t *testing.T) {
	fault := errors.New("409")
	for name, tt := range map[string]struct {
		err  error
		want Step
	}{
		"none":               {nil, ""},
		"no step":            {fault, ""},
		"a step":             {During(StepAttach, fault), StepAttach},
		"wrapped":            {fmt.Errorf("port: %w", During(StepPairs, fault)), StepPairs},
		"the innermost":      {During(StepAttach, fmt.Errorf("x: %w", During(StepPairs, fault))), StepPairs},
		"nothing went wrong": {During(StepAttach, nil), ""},
		"among several":      {errors.Join(errors.New("other"), During(StepAttach, fault)), StepAttach},
	} {
		if got := StepOf(tt.err); got != tt.want {
			t.Errorf("%s: %q, want %q", name, got, tt.want)
		}
	}
	if err := During(StepAttach, fault); err.Error() != "409" || !errors.Is(err, fault) {
		t.Errorf("the error became %v", err)
	}
}
