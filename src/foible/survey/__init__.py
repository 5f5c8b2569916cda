"""Surveys: people say what they see in findings, on a page that needs nothing but a browser; their answers come back."""

from foible.survey.choices import Choice, choices
from foible.survey.collect import Collected, collect
from foible.survey.make import Survey, make_survey

__all__ = ["Choice", "Collected", "Survey", "choices", "collect", "make_survey"]
