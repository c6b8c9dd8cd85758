package cloud

import "errors"

// Step is a part of a change that can fail by itself and that people know by a
// condition of its own.
type Step string

// The steps.
const (
	StepAttach Step = "attach" // of a port to its node's server
	StepPairs  Step = "pairs"  // a port's allowed address pairs
	StepJoin   Step = "join"   // of a transit leg to its router
)

// During marks an error with the step in which it came up; the text stays. Nil stays nil.
func During(s Step, err error) error {
	if err == nil {
		return nil
	}
	return &stepError{s, err}
}

// StepOf is the innermost step that an error was marked with, empty without one.
func StepOf(err error) Step {
	var step Step
	for e := (*stepError)(nil); errors.As(err, &e); err = e.error {
		step = e.step
	}
	return step
}

type stepError struct {
	step Step
	error
}

func (e *stepError) Unwrap() error { return e.error }
