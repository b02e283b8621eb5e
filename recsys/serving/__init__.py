"""From a watch history to the films to show."""
