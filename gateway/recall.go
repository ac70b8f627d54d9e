package gateway

import (
	"net/http"

	"github.com/labstack/echo/v4"
)

// recallMessage takes a delayed message away before it is due.
func (s *Server) recallMessage(c echo.Context) error {
	topic, err := s.topic(c)
	if err != nil {
		return err
	}
	if err := s.journal.Recall(c.Request().Context(), topic, c.Param("handle")); err != nil {
		return err
	}
	return c.NoContent(http.StatusNoContent)
}
