"""Which internal behaviours of a classifier a suite of images exercises: models and images in, figures out.

Reading order: suites (images as they come), measure (one pass, all criteria), result (the figures),
prioritise (in which order to look at a suite), text and page (for people), command (all of it). The criteria themselves are in `foible.coverage`.
"""
