package simulator

// Held is how many calls are in memory.
func (s *Server) Held() int { return len(s.calls) }
