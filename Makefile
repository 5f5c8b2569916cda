# Two commands: `make demo` and `make test`. Both make the virtual environment first, if it is not there.
VENV    ?= .venv
PY      := $(VENV)/bin/python
INSTALL := $(VENV)/bin/uv pip install --quiet --python $(PY) --constraint constraints.txt --editable
export UV_FIND_LINKS ?= $(PIP_FIND_LINKS)# uv ignores pip's settings: hand over the same wheel folder, if there is one

.PHONY: demo test lint bench clean

demo: $(VENV)/.demo
	$(PY) -m foible demo

test: $(VENV)/.dev
	$(PY) -m pytest -n 2 --dist worksteal

lint: $(VENV)/.dev
	$(VENV)/bin/ruff check
	$(VENV)/bin/ruff format --check
	$(VENV)/bin/mypy

bench: $(VENV)/.dev
	$(PY) benchmarks/all.py

$(VENV)/.demo: pyproject.toml constraints.txt
	python3 -m venv $(VENV)
	$(PY) -m pip install --quiet --disable-pip-version-check uv
	$(INSTALL) ".[demo]"
	touch $@

$(VENV)/.dev: $(VENV)/.demo
	$(INSTALL) ".[dev]"
	touch $@

clean:
	rm -rf $(VENV) runs .pytest_cache .mypy_cache .ruff_cache
