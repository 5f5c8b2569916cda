"""Domains: what images a classifier is for, and where real ones come from."""

from foible.domains.domain import Domain, domain_names, load_domain
from foible.domains.images import RealImages
from foible.domains.sources import real_images, where_images_are

__all__ = ["Domain", "RealImages", "domain_names", "load_domain", "real_images", "where_images_are"]
